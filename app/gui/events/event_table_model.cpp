#include "events/event_table_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <QColor>
#include <QGuiApplication>
#include <QPalette>

#include "base/shown_name.h"
#include "model/file/scratch_file.h"
#include "tables/table_look.h"
#include "timeline/core/colors.h"
#include "timeline/core/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kFirstPage = 500;             // rows: more than a screen has
constexpr std::size_t kSortedAtOnce = 200'000;      // events whose order comes soon enough without a first page
constexpr std::size_t kLargestTable = 100'000'000;  // rows: what the pixels of a header's int can address
constexpr std::size_t kPage = 2'000;                // rows that are read from a file at once

}  // namespace

std::optional<EventColumn> EventTableModel::eventColumn(int column) {
  if (column <= kNumberColumn || column > static_cast<int>(kEventColumnCount)) return std::nullopt;
  return static_cast<EventColumn>(column - 1);
}

EventTableModel::EventTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void EventTableModel::setEvents(std::shared_ptr<const EventList> list) {
  if (list) return order(std::move(list));
  page_.clear();
  job_.cancel();
  wanted_ = nullptr;
  show(nullptr, std::make_shared<const std::vector<EventRef>>());
}

EventRef EventTableModel::event(int row) const {
  if (row < 0) return {};
  const auto place = static_cast<std::size_t>(row);
  if (place < order_->size()) return (*order_)[place];
  return stored_ && place < stored_->size() ? storedEvent(place) : EventRef{};
}

EventRef EventTableModel::storedEvent(std::uint64_t row) const {
  if (page_.empty() || row < page_begin_ || row - page_begin_ >= page_.size()) {
    page_begin_ = row / kPage * kPage;
    page_.resize(std::min<std::uint64_t>(kPage, stored_->size() - page_begin_));
    if (!stored_->read(page_begin_, page_)) page_.clear();
  }
  return page_.empty() ? EventRef{} : page_[row - page_begin_];
}

std::optional<int> EventTableModel::rowOf(EventRef event) const {
  std::optional<std::size_t> position = position_of(*order_, event);
  if (!position && stored_)
    if (const auto found = stored_->find(list_->values, event)) position = *found;
  if (!position || *position >= kLargestTable) return std::nullopt;
  return static_cast<int>(*position);
}

int EventTableModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !list_) return 0;
  return static_cast<int>(std::min(knownRows(), kLargestTable));
}

std::size_t EventTableModel::knownRows() const {
  if (!list_->stream) return list_->events.size();
  return stored_ ? static_cast<std::size_t>(stored_->size()) : order_->size();
}

int EventTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(kEventColumnCount) + 1; }

QString EventTableModel::text(EventRef event, EventColumn column) const {
  const EventValues& values = list_->values;
  const ColumnContent content = event_column_content(column);
  if (content == ColumnContent::kText || content == ColumnContent::kExtent || content == ColumnContent::kNumber ||
      content == ColumnContent::kHundredths)
    return QString::fromStdString(values.text(event, column));
  const std::optional<std::int64_t> number = values.number(event, column);
  if (!number) return {};
  if (content == ColumnContent::kTime) return QString::fromStdString(timeline::format_time(*number));
  if (content == ColumnContent::kDuration) return QString::fromStdString(timeline::format_duration(*number));
  if (content == ColumnContent::kThroughput) return QString::fromStdString(timeline::format_throughput(static_cast<std::uint64_t>(*number), 1'000'000'000));
  return QString::fromStdString(timeline::format_bytes(static_cast<std::uint64_t>(*number)));
}

// The tool tip, copies and exports have names whole.
QString EventTableModel::shortName(EventRef event) const {
  const Trace& trace = list_->values.trace();
  if (trace.track_of(event.lane).key.kind != TrackKind::kKernels) return text(event, EventColumn::kName);
  return shown_name(trace, EventKind::kKernel, trace.event(event).name);
}

QVariant EventTableModel::color(EventRef event) const {
  if (!event.valid()) return {};
  const Trace& trace = list_->values.trace();
  const TrackKind kind = trace.track_of(event.lane).key.kind;
  const Event shown = trace.event(event);
  const bool is_nvtx = kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges || kind == TrackKind::kNvtxMarks;
  const std::uint32_t nvtx_color = is_nvtx ? trace.nvtx_detail(shown.detail).color : 0;
  const bool dark = QGuiApplication::palette().color(QPalette::Base).lightness() < 128;
  return QColor::fromRgb(
      timeline::event_color(kind, trace.name(shown.name), nvtx_color, dark ? timeline::ColorScheme::kDark : timeline::ColorScheme::kLight));
}

QVariant EventTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::optional<EventColumn> column = eventColumn(index.column());
  const bool is_text = column && event_column_content(*column) == ColumnContent::kText;
  if (role == Qt::TextAlignmentRole) return QVariant((is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::DecorationRole && column == EventColumn::kName) return color(event(index.row()));
  if (role == Qt::BackgroundRole) return hovered_.valid() && event(index.row()) == hovered_ ? hover_color() : QVariant();
  if (role != Qt::DisplayRole && !(role == Qt::ToolTipRole && is_text)) return {};
  if (!column) return index.row() + 1;
  const EventRef shown = event(index.row());
  if (!shown.valid()) return role == Qt::DisplayRole ? QStringLiteral("…") : QVariant();
  if (role == Qt::DisplayRole && column == EventColumn::kName) return shortName(shown);
  if (column == EventColumn::kKind) return shown_text(event_kind_name(event_kind(list_->values.trace(), shown)));
  return text(shown, *column);
}

QVariant EventTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const std::optional<EventColumn> column = eventColumn(section);
  if (role == Qt::DisplayRole) return column ? shown_text(event_column_title(*column)) : QStringLiteral("#");
  if (role == Qt::TextAlignmentRole) {
    const bool is_text = column && event_column_content(*column) == ColumnContent::kText;
    return QVariant((is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::InitialSortOrderRole) {  // what is long or large is looked for more often than what is short
    const ColumnContent content = column ? event_column_content(*column) : ColumnContent::kTime;
    const bool large_first = content == ColumnContent::kDuration || content == ColumnContent::kBytes || content == ColumnContent::kThroughput || content == ColumnContent::kExtent;
    return large_first ? Qt::DescendingOrder : Qt::AscendingOrder;
  }
  if (role == Qt::ToolTipRole && column == EventColumn::kGapBefore)
    return tr("Idle time in front of the event on its row: on its stream, or on the row that is shown");
  if (role == Qt::ToolTipRole && column == EventColumn::kQueueTime)
    return tr("From the end of the call that launched the work to its start on the GPU");
  if (role == Qt::ToolTipRole && column == EventColumn::kOccupancy)
    return tr("Of the warps that a multiprocessor could hold, the share that it can hold of this kernel, by the shape of its launch");
  if (role == Qt::ToolTipRole && column == EventColumn::kSharedMemory) return tr("Of each block: static and dynamic");
  if (role == Qt::ToolTipRole && column == EventColumn::kWaves)
    return tr("Blocks of the grid, by how many of them the GPU holds at once");
  return {};
}

void EventTableModel::sort(int column, Qt::SortOrder order_of_column) {
  sort_column_ = eventColumn(column).value_or(EventColumn::kStart);
  direction_ = order_of_column == Qt::AscendingOrder ? SortDirection::kAscending : SortDirection::kDescending;
  if (wanted_) order(wanted_);
}

void EventTableModel::order(std::shared_ptr<const EventList> list) {
  wanted_ = list;
  if (list->stream) return orderInFile(list);
  job_.start([this, list, column = sort_column_, direction = direction_](const LatestJob::Context& job) {
    if (column == EventColumn::kStart && direction == SortDirection::kAscending)  // as the list has them
      return job.deliver([this, list] { show(list, Order(list, &list->events)); });
    const EventValues& values = list->values;
    const auto deliver = [&](std::vector<EventRef> order) {
      if (job.stop().stop_requested()) return;
      job.deliver([this, list, order = std::make_shared<const std::vector<EventRef>>(std::move(order))] { show(list, order); });
    };
    if (list->events.size() > kSortedAtOnce) deliver(first_events(values, list->events, column, direction, kFirstPage, job.stop()));
    if (!job.stop().stop_requested()) deliver(sort_events(values, list->events, column, direction, job.stop()));
  });
}

void EventTableModel::orderInFile(const std::shared_ptr<const EventList>& list) {
  is_as_wanted_ = false;
  job_.start([this, list, column = sort_column_, direction = direction_](const LatestJob::Context& job) {
    OrderListener listener;
    listener.first_count = kFirstPage;
    auto first = std::make_shared<const std::vector<EventRef>>();
    listener.first = [&](std::vector<EventRef> events) {
      first = std::make_shared<const std::vector<EventRef>>(std::move(events));
      job.deliver([this, list, first] { show(list, first); });
    };
    listener.progress = [this, &job, told = -1](double share) mutable {
      constexpr int kSteps = 200;
      if (const int now = static_cast<int>(share * kSteps); std::exchange(told, now) != now) job.deliver([this, share] { emit progressed(share); });
    };
    auto order = StoredOrder::make(list->values, *list->stream, column, direction, {.folder = scratch_folder()}, listener, job.stop());
    if (!order) return job.deliver([this, sentence = QString::fromStdString(order.error().text)] { emit failed(sentence); });
    if (!order->has_value()) return;
    job.deliver([this, list, first, stored = std::make_shared<const StoredOrder>(**std::move(order))] { show(list, first, stored); });
  });
}

void EventTableModel::stopSorting() { job_.cancel(); }

void EventTableModel::sortAgain() {
  if (wanted_) order(wanted_);
}

bool EventTableModel::isWhole() const {
  if (list_ != wanted_) return false;
  return !list_ || (list_->stream ? is_as_wanted_ : order_->size() == list_->events.size());
}

void EventTableModel::show(std::shared_ptr<const EventList> list, Order order, Stored stored) {
  const bool is_same_list = list_ == list && list;
  const auto put = [&] {
    list_ = std::move(list);
    order_ = std::move(order);
    stored_ = std::move(stored);
    is_as_wanted_ = stored_ != nullptr;
    page_.clear();
  };
  const bool comes_behind_first_page = is_same_list && list_->stream && !stored_ && stored && order_ == order;
  if (comes_behind_first_page && stored->size() > order_->size()) {
    const auto last = static_cast<int>(std::min<std::uint64_t>(stored->size(), kLargestTable)) - 1;
    beginInsertRows({}, static_cast<int>(order_->size()), last);
    put();
    endInsertRows();
  } else if (is_same_list && !list_->stream) {  // the same rows in another order: the view keeps its place
    emit layoutAboutToBeChanged();
    put();
    emit layoutChanged();
  } else {
    beginResetModel();
    put();
    endResetModel();
  }
  emit orderChanged();
}

}  // namespace lanescope::ui
