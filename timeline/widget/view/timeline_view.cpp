#include "timeline/widget/timeline_view.h"

#include <algorithm>
#include <functional>

#include <QEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "input/gestures.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"
#include "view/timeline_parts.h"

namespace lanescope::timeline {
namespace {

constexpr int kMinimapHeight = 40;
constexpr int kNarrowestHeader = 80;
constexpr int kGrip = 4;  // logical pixels, width of the area in which the border of the headers can be dragged

// The corner above the row headers: the length of the visible range, the base of the ruler's labels, and the title of the column of shares below.
class Corner : public QWidget {
 public:
  Corner(const ViewState& state, const RulerBar& ruler, QWidget* parent) : QWidget(parent), state_(state), ruler_(ruler) {
    setAttribute(Qt::WA_OpaquePaintEvent);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const Theme& theme = state_.theme();
    painter.fillRect(rect(), theme.panel);
    const TimeRange range = state_.range();
    painter.setPen(theme.text);
    const QString length = QString::fromStdString(format_duration(range.length()));
    const QRect upper(10, 0, width() - 18, height() / 2);
    painter.drawText(upper, Qt::AlignLeft | Qt::AlignVCenter, length);
    painter.setPen(theme.quiet_text);
    painter.drawText(upper.adjusted(fontMetrics().horizontalAdvance(length + " "), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, tr("visible"));
    const QRect lower(10, height() / 2, width() - 18, height() / 2);
    if (state_.selectedRange())
      painter.drawText(lower, Qt::AlignRight | Qt::AlignVCenter, tr("events · busy"));
    else if (saysBusy())
      painter.drawText(lower, Qt::AlignRight | Qt::AlignVCenter, tr("busy"));
    if (const std::size_t hidden = state_.hiddenCount(); hidden > 0)
      painter.drawText(upper, Qt::AlignRight | Qt::AlignVCenter, hidden == 1 ? tr("1 row hidden") : tr("%1 rows hidden").arg(hidden));
    if (state_.trace().provenance().outline_only || state_.isCoarse()) {
      painter.setPen(theme.marker);
      painter.drawText(lower, Qt::AlignLeft | Qt::AlignVCenter, state_.isCoarse() ? tr("outline: events are being read") : tr("outline: events not loaded"));
    } else if (const QString base = ruler_.base(); !base.isEmpty()) {
      painter.setPen(theme.text);
      painter.drawText(lower, Qt::AlignLeft | Qt::AlignVCenter, tr("%1 +").arg(base));
    }
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
    painter.fillRect(QRect(width() - 1, 0, 1, height()), theme.separator);
  }

 private:
  // Without a selected range, only rows of GPUs show their busy share.
  [[nodiscard]] bool saysBusy() const {
    const std::vector<Row>& rows = state_.tree().rows();
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.kind == RowKind::kGpuHardware || row.counter; });
  }

  const ViewState& state_;
  const RulerBar& ruler_;
};

// The border between headers and canvas.
class Grip : public QWidget {
 public:
  Grip(std::function<void(int)> moved, QWidget* parent) : QWidget(parent), moved_(std::move(moved)) { setCursor(Qt::SplitHCursor); }

 protected:
  void mousePressEvent(QMouseEvent*) override {}
  void mouseMoveEvent(QMouseEvent* event) override { moved_(mapToParent(event->position().toPoint()).x()); }

 private:
  std::function<void(int)> moved_;
};

}  // namespace

TimelineView::Parts::Parts(TimelineView* view, Selection& selection)
    : state(selection, view),
      minimap(new Minimap(state, view)),
      ruler(new RulerBar(state, view)),
      corner(new Corner(state, *ruler, view)),
      header(new RowHeader(state, view)),
      canvas(new Canvas(state, view)),
      scroll_bar(new QScrollBar(Qt::Vertical, view)),
      prompt(new Prompt(view)) {
  grip = new Grip(
      [this, view](int x) {
        view->setHeaderWidth(std::min(x, view->width() / 2));
        emit view->headerWidthChanged(header_width);
      },
      view);
}

void TimelineView::Parts::layOut(QSize size) {
  const int ruler_height = state.theme().rows.group_height + 6;
  const int top = kMinimapHeight + ruler_height;
  const int bar = scroll_bar->sizeHint().width();
  const int left = std::min(header_width, size.width() / 2);
  const int canvas_width = std::max(1, size.width() - left - bar);
  corner->setGeometry(0, 0, left, top);
  minimap->setGeometry(left, 0, canvas_width, kMinimapHeight);
  ruler->setGeometry(left, kMinimapHeight, canvas_width, ruler_height);
  header->setGeometry(0, top, left, std::max(1, size.height() - top));
  canvas->setGeometry(left, top, canvas_width, std::max(1, size.height() - top));
  scroll_bar->setGeometry(size.width() - bar, top, bar, std::max(1, size.height() - top));
  grip->setGeometry(left - kGrip / 2, 0, kGrip, size.height());
  grip->raise();
  updateScrollBar();
}

void TimelineView::Parts::updateScrollBar() {
  scroll_bar->setPageStep(canvas->height());
  scroll_bar->setSingleStep(state.theme().rows.level_height);
  scroll_bar->setRange(0, std::max(0, state.layout().height() - canvas->height()));
  scroll_bar->setValue(state.scroll());
}

TimelineView::TimelineView(QWidget* parent) : TimelineView(*new Selection, parent) { selection().setParent(this); }

TimelineView::TimelineView(Selection& selection, QWidget* parent) : QWidget(parent), parts_(std::make_unique<Parts>(this, selection)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Timeline"));
  setMinimumSize(320, 128);  // the overview, the ruler and some rows: a screen of 1366 x 768 pixels at scale 2 has room for no more above a panel
  ViewState& state = parts_->state;
  state.setTheme(Theme::from(palette(), font()));

  connect(parts_->scroll_bar, &QScrollBar::valueChanged, this, [this](int value) { parts_->state.setScroll(value); });
  const auto scroll_bar_changed = [this] { parts_->updateScrollBar(); };
  connect(&state, &ViewState::scrollChanged, this, scroll_bar_changed);
  connect(&state, &ViewState::layoutChanged, this, scroll_bar_changed);
  connect(&state, &ViewState::traceReady, this, &TimelineView::traceReady);
  connect(&state, &ViewState::rangeChanged, this, [this] {
    parts_->corner->update();
    emit visibleRangeChanged(parts_->state.range());
  });
  const auto corner_changed = [this] { parts_->corner->update(); };
  connect(&state, &ViewState::traceChanged, this, corner_changed);
  connect(&state, &ViewState::traceChanged, this, [this](ViewState::Change change) {
    if (change == ViewState::Change::kAnother && parts_->prompt->isVisible()) parts_->prompt->closePrompt();  // it asked about another trace
  });
  connect(&state, &ViewState::layoutChanged, this, corner_changed);
  connect(&state, &ViewState::detailChanged, this, corner_changed);
  connect(&state, &ViewState::selectedRangeChanged, this, corner_changed);
  connect(&state, &ViewState::historyChanged, this, &TimelineView::historyChanged);
  connect(&state, &ViewState::selectionChanged, this, [this] { emit selectedEventChanged(parts_->state.selected()); });
  connect(&state, &ViewState::selectedRangeChanged, this, [this] { emit selectedRangeChanged(parts_->state.selectedRange()); });
  connect(&state, &ViewState::hoverChanged, this, [this] { emit hoveredEventChanged(parts_->state.hovered()); });
  connect(&state, &ViewState::hoveredTimeChanged, this, [this] { emit hoveredTimeChanged(parts_->state.hoveredTime()); });
  connect(&state, &ViewState::followChanged, this, [this] { emit followLiveChanged(parts_->state.follow()); });
  connect(&state, &ViewState::markersChanged, this, &TimelineView::markersChanged);
  connect(&state, &ViewState::markersEdited, this, &TimelineView::markersEdited);
  connect(&state, &ViewState::rowScaleChanged, this, [this] { emit rowScaleChanged(parts_->state.rowScale()); });
  connect(&state, &ViewState::layoutChanged, this, &TimelineView::rowArrangementChanged);
  connect(&state, &ViewState::currentRowChanged, this, &TimelineView::currentRowChanged);

  const auto key_of = [this](RowIndex row) { return QString::fromStdString(parts_->state.tree().row(row).key); };
  connect(parts_->canvas, &Canvas::eventActivated, this, &TimelineView::eventActivated);
  connect(parts_->canvas, &Canvas::contextMenuRequested, this, [this, key_of](EventRef event, RowIndex row, const QPoint& position) {
    if (event.valid())
      emit eventContextMenuRequested(event, key_of(row), position);
    else
      emit rowContextMenuRequested(key_of(row), position);
  });
  connect(parts_->canvas, &Canvas::gapContextMenuRequested, this,
          [this, key_of](const Gap& gap, RowIndex row, const QPoint& position) { emit gapContextMenuRequested(gap, key_of(row), position); });
  connect(parts_->ruler, &RulerBar::contextMenuRequested, this, &TimelineView::timeContextMenuRequested);
  connect(parts_->minimap, &Minimap::contextMenuRequested, this, &TimelineView::timeContextMenuRequested);
  connect(parts_->header, &RowHeader::contextMenuRequested, this,
          [this, key_of](RowIndex row, const QPoint& position) { emit rowContextMenuRequested(key_of(row), position); });
}

TimelineView::~TimelineView() = default;

int TimelineView::headerWidth() const { return parts_->header_width; }
void TimelineView::setHeaderWidth(int width) {
  parts_->header_width = std::max(width, kNarrowestHeader);
  parts_->layOut(size());
}

void TimelineView::setTrace(std::shared_ptr<const Trace> trace) { parts_->state.setTrace(std::move(trace)); }
void TimelineView::updateTrace(std::shared_ptr<const Trace> trace) { parts_->state.updateTrace(std::move(trace)); }
QImage TimelineView::picture(double scale) {
  QImage picture((QSizeF(size()) * scale).toSize(), QImage::Format_RGB32);
  if (picture.isNull()) return picture;
  picture.setDevicePixelRatio(scale);
  ViewState& state = parts_->state;
  const EventRef hovered = state.hovered();
  const std::optional<Nanoseconds> time = state.hoveredTime();
  state.hover({}, std::nullopt);
  render(&picture);
  state.hover(hovered, time);
  return picture;
}

std::vector<SvgRow> TimelineView::rowsInSight() const {
  const ViewState& state = parts_->state;
  return rows_in_sight(state.tree(), state.layout(), state.sides(), state.scroll(), parts_->canvas->height());
}

void TimelineView::makeReady(std::shared_ptr<const Trace> trace) { parts_->state.makeReady(std::move(trace)); }
bool TimelineView::showsOutline() const { return parts_->state.isCoarse(); }
bool TimelineView::isMakingReady() const { return parts_->state.isMakingReady() || parts_->minimap->isBehind(); }
std::size_t TimelineView::memoryBytes() const { return parts_->state.memoryBytes(); }
const std::shared_ptr<const Trace>& TimelineView::trace() const { return parts_->state.tracePointer(); }

void TimelineView::setFollowLive(FollowLive follow) { parts_->state.setFollow(follow); }
FollowLive TimelineView::followLive() const { return parts_->state.follow(); }

void TimelineView::setOpenEvents(std::vector<EventRef> events) { parts_->state.setOpenEvents(std::move(events)); }
void TimelineView::setClock(std::optional<Nanoseconds> now) { parts_->state.setClock(now); }

TimeRange TimelineView::visibleRange() const { return parts_->state.range(); }
void TimelineView::setVisibleRange(TimeRange range) { parts_->state.navigate(range); }
void TimelineView::zoomToFit() { parts_->state.navigate(parts_->state.bounds()); }

void TimelineView::zoomToSelection() {
  if (const auto range = selection().latestTime()) {
    parts_->state.navigate(*range);
  } else if (const EventRef event = parts_->state.selected(); event.valid()) {
    openRowsTo(event);
    zoomToEvent(event);
  }
}

void TimelineView::openRowsTo(EventRef event) { parts_->state.openRowsTo(event); }

void TimelineView::zoomToEvent(EventRef event) {
  if (!event.valid()) return;
  parts_->state.select(event);
  parts_->state.navigate(range_around(parts_->state.drawnEvent(event)));
  parts_->state.reveal(event);
}

void TimelineView::zoomBy(double factor) {
  const TimeRange range = parts_->state.range();
  const Nanoseconds fixed = parts_->state.hoveredTime().value_or(range.begin + range.length() / 2);
  parts_->state.navigate(zoomed(range, factor, fixed));
}

bool TimelineView::canGoBack() const { return parts_->state.history().can_go_back(); }
bool TimelineView::canGoForward() const { return parts_->state.history().can_go_forward(); }
void TimelineView::goBack() { parts_->state.goBack(); }
void TimelineView::goForward() { parts_->state.goForward(); }

Selection& TimelineView::selection() { return parts_->state.selection(); }
EventRef TimelineView::selectedEvent() const { return parts_->state.selected(); }

void TimelineView::selectEvent(EventRef event) {
  parts_->state.select(event);
  revealEvent(event);
}

void TimelineView::revealEvent(EventRef event) { parts_->state.reveal(event); }

void TimelineView::selectNeighbour(Neighbour which) {
  const EventRef selected = parts_->state.selected();
  if (!selected.valid()) return;
  if (const auto found = neighbour(parts_->state.trace(), selected, which)) selectEvent(*found);
}

void TimelineView::selectCorrelated() {
  if (!correlatedEvents().empty()) selectEvent(correlatedEvents().front());
}

std::optional<TimeRange> TimelineView::selectedRange() const { return parts_->state.selectedRange(); }
void TimelineView::setSelectedRange(std::optional<TimeRange> range) { parts_->state.selectRange(range); }
EventRef TimelineView::hoveredEvent() const { return parts_->state.hovered(); }
void TimelineView::setHoveredEvent(EventRef event) { parts_->state.hover(event, parts_->state.hoveredTime()); }
const std::vector<EventRef>& TimelineView::correlatedEvents() const { return parts_->state.correlated(); }

void TimelineView::setIdleTime(std::shared_ptr<const IdleTime> idle) { parts_->state.setIdleTime(std::move(idle)); }
void TimelineView::setCommunicationTime(std::shared_ptr<const CommunicationTime> time) { parts_->state.setCommunicationTime(std::move(time)); }
void TimelineView::setLoops(std::vector<Loop> loops) { parts_->state.setLoops(std::move(loops)); }
const std::vector<TimelineView::Loop>& TimelineView::loops() const { return parts_->state.loops(); }
void TimelineView::showLoop() {
  if (loops().empty()) return emit loopRequested(LoopUse::kShown);
  parts_->state.showLoop();
}
void TimelineView::selectLoop() {
  if (loops().empty()) return emit loopRequested(LoopUse::kSelected);
  const auto selected = std::find_if(loops().begin(), loops().end(), [this](const Loop& loop) { return selectedRange() == loop.range; });
  setSelectedRange((selected == loops().end() || selected + 1 == loops().end() ? loops().begin() : selected + 1)->range);
}
void TimelineView::openOnLoop() { parts_->state.openOnLoop(); }
void TimelineView::setAnswer(std::shared_ptr<const AnswerRow> answer) { parts_->state.setAnswer(std::move(answer)); }
const std::shared_ptr<const AnswerRow>& TimelineView::answer() const { return parts_->state.answer(); }
std::optional<Gap> TimelineView::selectedGap() const { return parts_->state.selectedGap(); }
void TimelineView::selectGap(IdleTime::Direction direction) {
  if (parts_->state.idleTime() == nullptr) return emit gapsRequested();
  if (!parts_->state.selectGap(direction)) emit gapsEnded(direction);
}

void TimelineView::goToTime(Nanoseconds time) {
  const TimeRange range = visibleRange();
  setVisibleRange(panned(range, time - (range.begin + range.length() / 2)));
}

void TimelineView::askForTime() {
  const QRect ruler = parts_->ruler->geometry();
  const QRect place(ruler.center().x() - 130, ruler.top(), 260, ruler.height());
  parts_->prompt->ask(tr("Go to a time, as 12.5 ms, or to a range, as 1ms:2ms"), place, [this](const QString& text) {
    const auto refuse = [this](const QString& why) {
      QToolTip::showText(parts_->prompt->mapToGlobal(QPoint(0, parts_->prompt->height())), why, parts_->prompt);
      return false;
    };
    const QStringList sides = text.split(u':');
    auto begin = parse_time(sides.front().toStdString()), end = parse_time(sides.back().toStdString());
    if (!begin || !end || sides.size() > 2)
      return refuse(tr("A time is a number and its unit, as 12.5 ms; a range has a colon between its times, as 1ms:2ms."));
    if (*end < *begin) std::swap(begin, end);
    if (const TimeRange extent = trace() ? trace()->scope() : TimeRange{}; !extent.empty() && (*end < extent.begin || *begin >= extent.end)) {
      const Nanoseconds resolution = std::max<Nanoseconds>(1, extent.length() / 1'000);
      const auto shown = [resolution](Nanoseconds time) { return QString::fromStdString(format_time(time, resolution)); };
      return refuse(tr("The trace begins at %1 and ends at %2.").arg(shown(extent.begin), shown(extent.end)));
    }
    return (*begin == *end ? goToTime(*begin) : setVisibleRange({*begin, *end})), true;
  });
}

void TimelineView::askForMarker() {
  const TimeRange visible = visibleRange();
  Nanoseconds time = parts_->canvas->edgeAtCursor().value_or(visible.begin + visible.length() / 2);
  std::optional<Nanoseconds> selected;
  if (const auto range = selection().latestTime())
    selected = range->begin;
  else if (selectedEvent().valid())
    selected = trace()->event(selectedEvent()).start;
  if (selected && *selected >= visible.begin && *selected < visible.end) time = *selected;  // else nobody would see what is marked
  askForMarkerAt(time);
}

void TimelineView::askForMarkerAt(Nanoseconds time) {
  const QRect ruler = parts_->ruler->geometry();
  const Viewport viewport{visibleRange(), std::max(1, ruler.width())};
  const int x = std::clamp(static_cast<int>(viewport.x_at(time)), 0, std::max(0, ruler.width() - 180));
  parts_->prompt->ask(
      tr("Name of the marker"), QRect(ruler.left() + x, ruler.top(), 180, ruler.height()),
      [this, time](const QString& text) { return addMarker(time, text), true; }, Prompt::OnLeaving::kKept);
}

void TimelineView::measureFrom(RangeEnd end) {
  std::optional<Nanoseconds> time = parts_->canvas->edgeAtCursor();
  if (!time && selectedEvent().valid()) {
    const Event event = trace()->event(selectedEvent());
    time = end == RangeEnd::kBegin ? event.start : event.end();
  }
  if (!time) return;
  const std::optional<TimeRange> before = selectedRange();
  const bool is_begin = end == RangeEnd::kBegin;
  if (!before) return setSelectedRange(is_begin ? TimeRange{*time, visibleRange().end} : TimeRange{visibleRange().begin, *time});
  // Of two points that were set in the opposite order, the first stays an end.
  if (is_begin)
    setSelectedRange(*time < before->end ? TimeRange{*time, before->end} : TimeRange{before->end, *time});
  else
    setSelectedRange(*time > before->begin ? TimeRange{before->begin, *time} : TimeRange{*time, before->begin});
}

void TimelineView::setHighlightedText(const QString& text) { parts_->state.setHighlighted(text.toStdString()); }
QString TimelineView::highlightedText() const { return QString::fromStdString(parts_->state.highlighted()); }
std::uint64_t TimelineView::highlightedCount() const { return parts_->state.matches().count(); }
void TimelineView::selectNextHighlighted() { selectHighlighted(EventMatches::Direction::kNext); }
void TimelineView::selectPreviousHighlighted() { selectHighlighted(EventMatches::Direction::kPrevious); }

void TimelineView::selectHighlighted(EventMatches::Direction direction) {
  if (!holds_events(*trace()) || parts_->state.isMatching()) return emit highlightedRequested(direction);  // searching all events takes long
  if (const auto found = parts_->state.matches().find(selectedEvent(), visibleRange().begin, direction)) selectEvent(*found);
}

const std::vector<TimelineView::Marker>& TimelineView::markers() const { return parts_->state.markers(); }

void TimelineView::setWheelUse(WheelUse use) { parts_->state.setWheelUse(use); }

void TimelineView::setMarkerFiles(std::vector<MarkerFile> files) { parts_->state.setMarkerFiles(std::move(files)); }
void TimelineView::setMarkers(std::vector<Marker> markers) { parts_->state.setMarkers(parts_->state.placed(std::move(markers))); }

void TimelineView::addMarker(Nanoseconds time, const QString& text) { addMarkers({{time, text}}); }

void TimelineView::addMarkers(const std::vector<Marker>& added) {
  std::vector<Marker> markers = parts_->state.markers();
  for (const Marker& one : parts_->state.placed(added)) {
    const auto there = std::find_if(markers.begin(), markers.end(), [&](const Marker& marker) { return marker.time == one.time && marker.file == one.file; });
    if (there == markers.end())
      markers.push_back(one);
    else if (!one.text.isEmpty())
      there->text = one.text;
  }
  parts_->state.editMarkers(tr("Add a marker"), parts_->state.placed(std::move(markers)));
}

void TimelineView::setMarkerText(const Marker& marker, const QString& text) {
  std::vector<Marker> markers = parts_->state.markers();
  const auto there = std::find(markers.begin(), markers.end(), marker);
  if (there == markers.end()) return;
  there->text = text;
  parts_->state.editMarkers(tr("Change the text of a marker"), std::move(markers));
}

void TimelineView::removeMarker(const Marker& marker) {
  std::vector<Marker> markers = parts_->state.markers();
  const auto there = std::find(markers.begin(), markers.end(), marker);
  if (there == markers.end()) return;
  markers.erase(there);
  parts_->state.editMarkers(tr("Remove a marker"), std::move(markers));
}

void TimelineView::clearMarkers() { parts_->state.editMarkers(tr("Remove all markers"), {}); }

QUndoStack& TimelineView::edits() { return parts_->state.edits(); }

double TimelineView::rowScale() const { return parts_->state.rowScale(); }
void TimelineView::setRowScale(double scale) { parts_->state.setRowScale(scale); }

void TimelineView::goToMarker(MarkerDirection direction) {
  const TimeRange visible = visibleRange();
  std::optional<Nanoseconds>& last = parts_->last_marker;
  const Nanoseconds from = last && visible.contains(*last) ? *last : visible.begin + visible.length() / 2;
  std::optional<Nanoseconds> found;
  for (const Marker& marker : markers()) {
    if (direction == MarkerDirection::kNext && marker.time > from && !found) found = marker.time;
    if (direction == MarkerDirection::kPrevious && marker.time < from) found = marker.time;
  }
  if (!found) return;
  last = found;
  goToTime(*found);
}

void TimelineView::setPath(std::vector<PathPlace> path) { parts_->state.setPath(std::move(path)); }
void TimelineView::askWhatItWaitedFor() {
  if (selectedEvent().valid() || selection().latestTime()) emit waitedForRequested();
}

QSize TimelineView::sizeHint() const { return {1200, 600}; }

void TimelineView::resizeEvent(QResizeEvent*) { parts_->layOut(size()); }

void TimelineView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    parts_->state.setTheme(Theme::from(palette(), font()));
    parts_->layOut(size());
  }
  QWidget::changeEvent(event);
}

}  // namespace lanescope::timeline
