#include "parts/canvas_accessible.h"

#include <algorithm>

#include "timeline/core/pixels/counter_pixels.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::timeline {
namespace {

// A part of the canvas that is not a widget.
class Part : public QAccessibleInterface {
 public:
  [[nodiscard]] QObject* object() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
    for (int index = 0; index < childCount(); ++index)
      if (QAccessibleInterface* found = child(index); found->rect().contains(x, y)) return found;
    return nullptr;
  }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* wanted) const override {
    for (int index = 0; index < childCount(); ++index)
      if (child(index) == wanted) return index;
    return -1;
  }
  void setText(QAccessible::Text, const QString&) override {}
};

}  // namespace

class EventAccessible : public Part {
 public:
  EventAccessible(RowAccessible& row, const CanvasAccessible& canvas, std::string row_key, RowPlace place, EventRef event)
      : row_(row), canvas_(canvas), row_key_(std::move(row_key)), place_(place), event_(event) {}

  [[nodiscard]] bool isValid() const override {
    if (!canvas_.isValid()) return false;
    const Trace& trace = canvas_.canvas().state().trace();
    return event_.lane < trace.lanes().size() && event_.index < trace.lane(event_.lane).size();
  }
  [[nodiscard]] QAccessibleInterface* parent() const override;
  [[nodiscard]] int childCount() const override { return 0; }
  [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
  [[nodiscard]] QAccessible::Role role() const override { return QAccessible::Cell; }
  [[nodiscard]] QRect rect() const override {
    const Canvas& canvas = canvas_.canvas();
    return canvas.rectangleOf(row_key_, place_, event_).translated(canvas.mapToGlobal(QPoint(0, 0)));
  }
  [[nodiscard]] QString text(QAccessible::Text which) const override {
    if (!isValid()) return {};
    const Trace& trace = canvas_.canvas().state().trace();
    if (which == QAccessible::Name) return shown_text(event_words(trace, event_));
    if (which == QAccessible::Value) return QString::fromStdString(format_duration(trace.event(event_).duration));
    if (which == QAccessible::Description) return QString::fromStdString(as_text(describe_event(trace, event_)));
    return {};
  }
  [[nodiscard]] QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = state.focusable = true;
    state.selected = canvas_.canvas().state().selected() == event_;
    state.focused = state.selected && canvas_.canvas().parentWidget()->hasFocus();
    return state;
  }

 private:
  RowAccessible& row_;
  const CanvasAccessible& canvas_;
  std::string row_key_;
  RowPlace place_;
  EventRef event_;
};

class RowAccessible : public Part {
 public:
  RowAccessible(const CanvasAccessible& canvas, std::string key, RowPlace place) : canvas_(canvas), key_(std::move(key)), place_(place) {}
  ~RowAccessible() override {
    for (const auto& [event, id] : known_) QAccessible::deleteAccessibleInterface(id);
  }

  [[nodiscard]] const PlacedRow* placed() const {
    for (const PlacedRow* row : canvas_.rows())
      if (row->place == place_ && stateOfView().tree().row(row->row).key == key_) return row;
    return nullptr;
  }
  [[nodiscard]] bool isValid() const override { return canvas_.isValid() && placed() != nullptr; }
  [[nodiscard]] QAccessibleInterface* parent() const override { return const_cast<CanvasAccessible*>(&canvas_); }
  [[nodiscard]] int childCount() const override {
    const PlacedRow* row = placed();
    return row != nullptr ? static_cast<int>(canvas_.boxes(*row).size()) : 0;
  }
  [[nodiscard]] QAccessibleInterface* child(int index) const override {
    const PlacedRow* row = placed();
    if (row == nullptr) return nullptr;
    const auto boxes = canvas_.boxes(*row);
    if (index < 0 || static_cast<std::size_t>(index) >= boxes.size()) return nullptr;
    return event(boxes[static_cast<std::size_t>(index)].second.event);
  }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* wanted) const override {
    const PlacedRow* row = placed();
    if (row == nullptr) return -1;
    const auto boxes = canvas_.boxes(*row);
    const auto is_wanted = [&](const auto& box) {
      const auto known = known_.find(box.second.event);
      return known != known_.end() && QAccessible::accessibleInterface(known->second) == wanted;
    };
    const auto found = std::find_if(boxes.begin(), boxes.end(), is_wanted);
    return found == boxes.end() ? -1 : static_cast<int>(found - boxes.begin());
  }
  // Also for an event that is too narrow to be seen singly.
  [[nodiscard]] QAccessibleInterface* event(EventRef event) const {
    constexpr std::size_t kMost = 20'000;  // limit of the cache; a screen reader asks for few
    const auto found = known_.find(event);
    if (found != known_.end()) return QAccessible::accessibleInterface(found->second);
    if (known_.size() >= kMost) {
      for (const auto& [each, id] : known_) QAccessible::deleteAccessibleInterface(id);
      known_.clear();
    }
    auto* made = new EventAccessible(const_cast<RowAccessible&>(*this), canvas_, key_, place_, event);
    known_[event] = QAccessible::registerAccessibleInterface(made);
    return made;
  }
  [[nodiscard]] QAccessible::Role role() const override { return QAccessible::Row; }
  [[nodiscard]] QRect rect() const override {
    const PlacedRow* row = placed();
    if (row == nullptr) return {};
    const Canvas& canvas = canvas_.canvas();
    return QRect(0, stateOfView().topOf(*row), canvas.width(), row->height).translated(canvas.mapToGlobal(QPoint(0, 0)));
  }
  [[nodiscard]] QString text(QAccessible::Text which) const override {
    const PlacedRow* placed_row = placed();
    if (placed_row == nullptr) return {};
    const Row& row = stateOfView().tree().row(placed_row->row);
    if (which == QAccessible::Name) return shown_text(row_title(row));
    ViewState& view = stateOfView();
    if (row.counter && which == QAccessible::Description) return shown_text(view.trace().counters()[*row.counter].description);
    if (row.counter && which == QAccessible::Value)
      return QString::fromStdString(counter_text(view.trace(), *row.counter, view.selectedRange().value_or(view.range())));
    if (which != QAccessible::Value || row.all.empty()) return {};
    const TimeRange range = view.selectedRange().value_or(view.range()).intersected(view.trace().extent());
    const std::optional<Picture::RowSum> sum = view.rowSum(row, range);
    if (!sum) return {};
    const double share = range.empty() ? 0 : static_cast<double>(sum->busy) / static_cast<double>(range.length());
    const QString busy = QString::fromStdString(format_share(share)), count = shown_text(format_counted(sum->count, "event"));
    const double waiting = view.waitingShare(row, range);
    if (waiting > 0) return Canvas::tr("%1 busy, %2 of that waiting for another rank, %3").arg(busy, QString::fromStdString(format_share(waiting)), count);
    return Canvas::tr("%1 busy, %2").arg(busy, count);
  }
  [[nodiscard]] QAccessible::State state() const override {
    QAccessible::State state;
    const PlacedRow* placed_row = placed();
    if (placed_row == nullptr) return state;
    const Row& row = stateOfView().tree().row(placed_row->row);
    state.expandable = row.expandable();
    state.expanded = row.expandable() && stateOfView().isRowExpanded(row);
    state.collapsed = row.expandable() && !state.expanded;
    return state;
  }

 private:
  [[nodiscard]] ViewState& stateOfView() const { return canvas_.canvas().state(); }

  const CanvasAccessible& canvas_;
  std::string key_;
  RowPlace place_;
  mutable std::map<EventRef, QAccessible::Id> known_;
};

QAccessibleInterface* EventAccessible::parent() const { return &row_; }

void CanvasAccessible::install() {
  static const bool installed = [] {
    QAccessible::installFactory([](const QString&, QObject* object) -> QAccessibleInterface* {
      auto* canvas = qobject_cast<Canvas*>(object);
      return canvas != nullptr ? new CanvasAccessible(canvas) : nullptr;
    });
    return true;
  }();
  (void)installed;
}

CanvasAccessible::CanvasAccessible(Canvas* canvas) : QAccessibleWidget(canvas, QAccessible::Table) {
  traces_ = QObject::connect(&canvas->state(), &ViewState::traceChanged, canvas, [this](ViewState::Change change) {
    if (change == ViewState::Change::kAnother) forget();  // rows and events of other traces may have the same keys and numbers
  });
}

CanvasAccessible::~CanvasAccessible() {
  QObject::disconnect(traces_);
  forget();
}

void CanvasAccessible::forget() {
  for (const auto& [key, id] : known_) QAccessible::deleteAccessibleInterface(id);
  known_.clear();
}

Canvas& CanvasAccessible::canvas() const { return *static_cast<Canvas*>(widget()); }

std::vector<const PlacedRow*> CanvasAccessible::rows() const {
  const ViewState& state = canvas().state();
  std::vector<const PlacedRow*> rows = state.layout().in_sight(state.scroll(), canvas().height());
  std::sort(rows.begin(), rows.end(), [&](const PlacedRow* a, const PlacedRow* b) { return state.topOf(*a) < state.topOf(*b); });
  return rows;
}

std::vector<std::pair<std::size_t, Box>> CanvasAccessible::boxes(const PlacedRow& row) const {
  ViewState& state = canvas().state();
  std::vector<std::pair<std::size_t, Box>> boxes;
  rasterizer_.forget();  // the lanes may belong to another snapshot
  for (std::size_t level = 0; level < row.levels.size(); ++level)
    if (const LevelContent* content = state.content(row.levels[level]))
      for (const Box& box : rasterizer_.rasterize(*content, {state.range(), std::max(1, canvas().width())}).boxes()) boxes.emplace_back(level, box);
  return boxes;
}

RowAccessible* CanvasAccessible::interfaceOf(const PlacedRow& row) const {
  const Key key{canvas().state().tree().row(row.row).key, row.place};
  const auto found = known_.find(key);
  if (found != known_.end()) return static_cast<RowAccessible*>(QAccessible::accessibleInterface(found->second));
  auto* made = new RowAccessible(*this, key.first, key.second);
  known_[key] = QAccessible::registerAccessibleInterface(made);
  return made;
}

int CanvasAccessible::childCount() const { return static_cast<int>(rows().size()); }

QAccessibleInterface* CanvasAccessible::child(int index) const {
  const auto all = rows();
  if (index < 0 || static_cast<std::size_t>(index) >= all.size()) return nullptr;
  return interfaceOf(*all[static_cast<std::size_t>(index)]);
}

int CanvasAccessible::indexOfChild(const QAccessibleInterface* wanted) const {
  for (int index = 0; index < childCount(); ++index)
    if (child(index) == wanted) return index;
  return -1;
}

QAccessibleInterface* CanvasAccessible::childAt(int x, int y) const {
  const QPoint place = canvas().mapFromGlobal(QPoint(x, y));
  if (!canvas().rect().contains(place)) return nullptr;
  const PlacedRow* row = canvas().state().rowAt(place.y());
  return row != nullptr ? interfaceOf(*row) : nullptr;
}

// The selected event on the row that shows it, else the row that keys act on.
QAccessibleInterface* CanvasAccessible::focusChild() const {
  const ViewState& state = canvas().state();
  const EventRef event = state.selected();
  const auto place = event.valid() ? state.tree().place_of(event.lane) : std::nullopt;
  if (place)
    if (const PlacedRow* row = state.layout().nearest_shown(place->row)) return interfaceOf(*row)->event(event);
  if (const auto current = state.tree().find(state.currentRow()))
    if (const PlacedRow* row = state.layout().nearest_shown(*current)) return interfaceOf(*row);
  return nullptr;
}

}  // namespace lanescope::timeline
