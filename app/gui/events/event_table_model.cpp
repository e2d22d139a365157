#include "events/event_table_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <QColor>
#include <QGuiApplication>
#include <QPalette>

#include "base/text/shown_name.h"
#include "model/events/name_family.h"
#include "model/file/scratch_file.h"
#include "model/trace/combining/parts.h"
#include "tables/table_look.h"
#include "timeline/core/navigation.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/core/words/given_names.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kFirstPage = 500;             // rows: more than a screen shows
constexpr std::size_t kSortedAtOnce = 200'000;      // events that are sorted fast enough without a first page
constexpr std::size_t kLargestTable = 100'000'000;  // rows: limit of the int pixel positions of a header
constexpr std::size_t kPage = 2'000;                // rows that are read from a file at once

// The rows of the sought events in an order of a list; -1 for missing ones. O(rows · log events).
std::vector<int> rows_of(const EventTableModel::Sought& sought, const EventList& list, std::span<const EventRef> order, const std::stop_token& stop) {
  std::vector<int> rows(sought.events.size(), -1);
  std::vector<std::pair<EventRef, std::size_t>> wanted;
  for (std::size_t i = 0; i < sought.events.size(); ++i)
    if (const EventRef event = timeline::find_again(sought.list->values.trace(), sought.events[i], list.values.trace()); event.valid())
      wanted.emplace_back(event, i);
  std::sort(wanted.begin(), wanted.end());
  std::size_t left = wanted.size();
  for (std::size_t row = 0; left > 0 && row < std::min(order.size(), kLargestTable); ++row) {
    if (row % 65'536 == 0 && stop.stop_requested()) return rows;
    for (auto found = std::lower_bound(wanted.begin(), wanted.end(), std::pair(order[row], std::size_t{0}));
         found != wanted.end() && found->first == order[row]; ++found, --left)
      rows[found->second] = static_cast<int>(row);
  }
  return rows;
}

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

void EventTableModel::setFolding(Folding folding) {
  if (folding_ == folding) return;
  folding_ = folding;
  if (wanted_) order(wanted_);
}

std::pair<std::size_t, std::size_t> EventTableModel::placeOf(int row) const {
  const auto behind = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
  const auto fold = static_cast<std::size_t>(behind - first_rows_.begin()) - 1;
  return {fold, static_cast<std::size_t>(row - first_rows_[fold])};
}

const EventFold* EventTableModel::foldAt(int row) const {
  if (!folds_ || row < 0 || row >= rowCount()) return nullptr;
  const auto [fold, behind] = placeOf(row);
  return behind == 0 && (*folds_)[fold].count > 1 ? &(*folds_)[fold] : nullptr;
}

std::optional<int> EventTableModel::rowOf(const std::pair<EventKind, std::string>& family) const {
  for (std::size_t i = 0; folds_ && i < folds_->size(); ++i)
    if ((*folds_)[i].kind == family.first && (*folds_)[i].family == family.second) return (*folds_)[i].count > 1 ? std::optional(first_rows_[i]) : std::nullopt;
  return std::nullopt;
}

std::optional<int> EventTableModel::foldRowOf(int row) const {
  if (!folds_ || row < 0 || row >= rowCount()) return std::nullopt;
  const auto [fold, behind] = placeOf(row);
  return behind > 0 ? std::optional(first_rows_[fold]) : std::nullopt;
}

FoldState EventTableModel::stateOf(const EventFold& fold) const {
  return canOpen(fold) && opened_.contains({fold.kind, fold.family}) ? FoldState::kOpen : FoldState::kClosed;
}

void EventTableModel::countRows() {
  first_rows_.clear();
  folded_ = 0;
  if (!folds_) return;
  std::size_t rows = 0;
  for (const EventFold& fold : *folds_) {
    first_rows_.push_back(static_cast<int>(std::min(rows, kLargestTable)));
    rows += fold.count > 1 && stateOf(fold) == FoldState::kOpen ? 1 + fold.events.size() : 1;
    folded_ += fold.count;
  }
  first_rows_.push_back(static_cast<int>(std::min(rows, kLargestTable)));
}

void EventTableModel::setState(int row, FoldState state) {
  const EventFold& fold = *foldAt(row);
  if (stateOf(fold) == state) return;
  const auto change = [&] {
    state == FoldState::kOpen ? void(opened_.insert({fold.kind, fold.family})) : void(opened_.erase({fold.kind, fold.family}));
    countRows();
  };
  const int last = row + static_cast<int>(std::min(fold.events.size(), kLargestTable));
  if (static_cast<std::size_t>(rowCount()) + fold.events.size() >= kLargestTable) {  // the part that is cut off at the end changes, too
    beginResetModel();
    change();
    endResetModel();
  } else if (state == FoldState::kOpen) {
    beginInsertRows({}, row + 1, last);
    change();
    endInsertRows();
  } else {
    beginRemoveRows({}, row + 1, last);
    change();
    endRemoveRows();
  }
  emit dataChanged(index(row, 0), index(row, columnCount() - 1));
}

void EventTableModel::setAllStates(FoldState state) {
  beginResetModel();
  opened_.clear();
  if (state == FoldState::kOpen && folds_)
    for (const EventFold& fold : *folds_) opened_.insert({fold.kind, fold.family});
  countRows();
  endResetModel();
  emit orderChanged();
}

EventRef EventTableModel::event(int row) const {
  if (row < 0) return {};
  if (folds_) {
    if (row >= rowCount()) return {};
    const auto [fold, behind] = placeOf(row);
    const std::vector<EventRef>& events = (*folds_)[fold].events;
    if ((*folds_)[fold].count == 1) return events.front();
    return behind == 0 ? EventRef{} : events[behind - 1];
  }
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
  if (list_ && !list_->stream && !position_by_start(list_->values.trace(), list_->events, event)) return std::nullopt;
  if (folds_) {
    const Trace& trace = list_->values.trace();
    const EventKind kind = event_kind(trace, event);
    const std::string family = name_family(trace.name(listed_name(trace, event)));
    const auto fold = std::find_if(folds_->begin(), folds_->end(), [&](const EventFold& each) { return each.kind == kind && each.family == family; });
    if (fold == folds_->end()) return std::nullopt;
    const std::optional<std::size_t> position = position_in_order(list_->values, fold->events, event, sort_column_, direction_);
    if (!position) return std::nullopt;
    const int first = first_rows_[static_cast<std::size_t>(fold - folds_->begin())];
    const bool is_open = fold->count > 1 && stateOf(*fold) == FoldState::kOpen;
    return is_open ? first + 1 + static_cast<int>(*position) : first;
  }
  std::optional<std::size_t> position = list_ ? position_in_order(list_->values, *order_, event, sort_column_, direction_) : std::nullopt;
  if (!position && stored_)
    if (const auto found = stored_->find(list_->values, event)) position = *found;
  if (!position || *position >= kLargestTable) return std::nullopt;
  return static_cast<int>(*position);
}

int EventTableModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !list_) return 0;
  if (folds_) return first_rows_.back();
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
  const TrackKey& track = values.trace().track_of(event.lane).key;
  if (column == EventColumn::kStream && is_on_stream(track.kind)) return shown_text(stream_label(values.trace(), track.process, track.context, track.stream));
  const bool is_given_name = column == EventColumn::kName && timeline::has_given_names(track.kind);
  if (is_given_name || column == EventColumn::kKind) return shown_text(std::string_view(values.text(event, column)));  // words that are translated
  if (content == ColumnContent::kText || content == ColumnContent::kExtent || content == ColumnContent::kNumber || content == ColumnContent::kHundredths)
    return QString::fromStdString(values.text(event, column));
  const std::optional<std::int64_t> number = values.number(event, column);
  if (!number) return {};
  // A range that has ended since the list was made is still marked: the list puts it in order by how long it was open then.
  if (column == EventColumn::kDuration && values.is_open(event)) {
    const std::optional<Nanoseconds> now = open_at_ ? open_at_(event) : std::nullopt;
    const Nanoseconds lasted = now ? *now - values.trace().lane(event.lane).start(event.index) : *number;
    return tr("open, %1").arg(QString::fromStdString(timeline::format_duration(lasted)));
  }
  if (content == ColumnContent::kTime) return QString::fromStdString(timeline::format_time(*number));
  if (content == ColumnContent::kDuration) return QString::fromStdString(timeline::format_duration(*number));
  if (content == ColumnContent::kThroughput) return QString::fromStdString(timeline::format_throughput(static_cast<std::uint64_t>(*number), 1'000'000'000));
  return QString::fromStdString(timeline::format_bytes(static_cast<std::uint64_t>(*number)));
}

// Tool tips, copies and exports have whole names.
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
  return QColor::fromRgb(timeline::event_color(kind, trace.name(shown.name), nvtx_color, dark ? timeline::ColorScheme::kDark : timeline::ColorScheme::kLight));
}

QVariant EventTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::optional<EventColumn> column = eventColumn(index.column());
  const bool is_text = column && event_column_content(*column) == ColumnContent::kText;
  if (role == Qt::TextAlignmentRole) return QVariant((is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::DecorationRole && column == EventColumn::kName) return color(event(index.row()));
  if (role == Qt::BackgroundRole) return hovered_.valid() && event(index.row()) == hovered_ ? hover_color() : QVariant();
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  if (const EventFold* fold = foldAt(index.row())) return foldData(*fold, index, role);
  if (role == Qt::ToolTipRole && !is_text) return {};
  if (!column) return folds_ ? QVariant() : index.row() + 1;
  const EventRef shown = event(index.row());
  if (role == Qt::ToolTipRole && column == EventColumn::kRun && shown.valid())
    if (const TracePart* part = part_of(list_->values.trace(), list_->values.trace().track_of(shown.lane))) return QString::fromStdString(part->label);
  if (!shown.valid()) return role == Qt::DisplayRole ? QStringLiteral("…") : QVariant();
  if (role == Qt::DisplayRole && column == EventColumn::kName) {
    const QString indent = foldRowOf(index.row()) ? QStringLiteral("    ") : QString();
    return indent + shortName(shown);
  }
  if (column == EventColumn::kKind) return shown_text(event_kind_name(event_kind(list_->values.trace(), shown)));
  return text(shown, *column);
}

// The values of a family instead of those of an event.
QVariant EventTableModel::foldData(const EventFold& fold, const QModelIndex& index, int role) const {
  const QString count = QString::fromStdString(timeline::format_count(fold.count));
  const std::optional<EventColumn> column = eventColumn(index.column());
  if (role == Qt::ToolTipRole) {
    if (column == EventColumn::kName) return QString::fromStdString(fold.family);
    return column == EventColumn::kDuration || column == EventColumn::kBytes ? tr("Sum of %1 events").arg(count) : QVariant();
  }
  if (!column) return count;
  switch (*column) {
    case EventColumn::kName: {
      const std::string name = fold.kind == EventKind::kKernel    ? timeline::compact_kernel_name(fold.family)
                               : fold.kind == EventKind::kCudaApi ? std::string(api_display_name(fold.family))
                                                                  : fold.family;
      const QString sign = !canOpen(fold) ? QString() : stateOf(fold) == FoldState::kOpen ? QStringLiteral("▾ ") : QStringLiteral("▸ ");
      return sign + QString::fromStdString(name);
    }
    case EventColumn::kKind:
      return shown_text(event_kind_name(fold.kind));
    case EventColumn::kStart:
      return QString::fromStdString(timeline::format_time(fold.start));
    case EventColumn::kDuration:
      return QString::fromStdString(timeline::format_duration(fold.duration));
    case EventColumn::kBytes:
      return fold.bytes > 0 ? QString::fromStdString(timeline::format_bytes(fold.bytes)) : QVariant();
    default:
      return {};
  }
}

QVariant EventTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const std::optional<EventColumn> column = eventColumn(section);
  const bool is_of_files = column == EventColumn::kRun && list_ && !compares_runs(list_->values.trace());
  if (role == Qt::DisplayRole && is_of_files) return shown_text("File");
  if (role == Qt::DisplayRole) return column ? shown_text(event_column_title(*column)) : QStringLiteral("#");
  if (role == Qt::TextAlignmentRole) {
    const bool is_text = column && event_column_content(*column) == ColumnContent::kText;
    return QVariant((is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::InitialSortOrderRole) {  // long and large values are wanted more often than short ones
    const ColumnContent content = column ? event_column_content(*column) : ColumnContent::kTime;
    const bool large_first =
        content == ColumnContent::kDuration || content == ColumnContent::kBytes || content == ColumnContent::kThroughput || content == ColumnContent::kExtent;
    return large_first ? Qt::DescendingOrder : Qt::AscendingOrder;
  }
  if (role == Qt::ToolTipRole && column == EventColumn::kGapBefore)
    return tr("Idle time in front of the event on its row: on its stream, or on the row that is shown");
  if (role == Qt::ToolTipRole && column == EventColumn::kRun && !is_of_files) return tr("Which of the two runs the event is of");
  if (role == Qt::ToolTipRole && column == EventColumn::kQueueTime) return tr("From the end of the call that launched the work to its start on the GPU");
  if (role == Qt::ToolTipRole && column == EventColumn::kOccupancy)
    return tr("The share of a multiprocessor's warps that it can hold of this kernel, by the shape of the launch");
  if (role == Qt::ToolTipRole && column == EventColumn::kSharedMemory) return tr("Static and dynamic shared memory of each block");
  if (role == Qt::ToolTipRole && column == EventColumn::kWaves) return tr("Blocks of the grid, by how many of them the GPU holds at once");
  return {};
}

void EventTableModel::sort(int column, Qt::SortOrder order_of_column) {
  sort_column_ = eventColumn(column).value_or(EventColumn::kStart);
  direction_ = order_of_column == Qt::AscendingOrder ? SortDirection::kAscending : SortDirection::kDescending;
  if (wanted_) order(wanted_);
}

void EventTableModel::order(std::shared_ptr<const EventList> list) {
  wanted_ = list;
  if (list->stream) return folding_ == Folding::kFamilies ? foldStream(list) : orderInFile(list);
  job_.start([this, list, column = sort_column_, direction = direction_, folding = folding_, sought = soughtIn(list.get())](const LatestJob::Context& job) {
    const EventValues& values = list->values;
    const auto deliver_order = [&](Order order) {
      Folds folds;
      if (folding == Folding::kFamilies) folds = std::make_shared<const std::vector<EventFold>>(fold_events(values, *order, column, direction, job.stop()));
      std::vector<int> rows;
      if (!folds) rows = rows_of(sought, *list, *order, job.stop());
      if (job.stop().stop_requested()) return;
      job.deliver([this, arrival = Arrival{list, std::move(order), std::move(folds), sought, std::move(rows)}] { arrive(arrival); });
    };
    const auto deliver_first = [&](std::vector<EventRef> events) {
      job.deliver([this, list, order = std::make_shared<const std::vector<EventRef>>(std::move(events))] {
        if (soughtIn(list.get()).events.empty()) show(list, order);
      });
    };
    if (column == EventColumn::kStart && direction == SortDirection::kAscending) return deliver_order(Order(list, &list->events));  // the order of the list
    if (list->events.size() > kSortedAtOnce && folding == Folding::kNone)
      deliver_first(first_events(values, list->events, column, direction, kFirstPage, job.stop()));
    if (!job.stop().stop_requested())
      deliver_order(std::make_shared<const std::vector<EventRef>>(sort_events(values, list->events, column, direction, job.stop())));
  });
}

// For the same list in another order, nothing is sought, because the table keeps its place.
EventTableModel::Sought EventTableModel::soughtIn(const EventList* list) const { return list == list_.get() ? Sought() : sought_(); }

void EventTableModel::arrive(Arrival arrival) {
  Sought now = soughtIn(arrival.list.get());
  if (!arrival.folds && now != arrival.sought) {
    arrival.sought = std::move(now);
    return job_.start([this, arrival = std::move(arrival)](const LatestJob::Context& job) mutable {
      arrival.rows = rows_of(arrival.sought, *arrival.list, *arrival.order, job.stop());
      if (!job.stop().stop_requested()) job.deliver([this, arrival = std::move(arrival)] { arrive(arrival); });
    });
  }
  show(std::move(arrival.list), std::move(arrival.order), nullptr, std::move(arrival.folds), std::move(arrival.rows));
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
    listener.progress = progressOf(job);
    auto order = StoredOrder::make(list->values, *list->stream, column, direction, {.folder = scratch_folder()}, listener, job.stop());
    if (!order) return job.deliver([this, sentence = QString::fromStdString(order.error().text)] { emit failed(sentence); });
    if (!order->has_value()) return;
    job.deliver([this, list, first, stored = std::make_shared<const StoredOrder>(**std::move(order))] { show(list, first, stored); });
  });
}

void EventTableModel::foldStream(const std::shared_ptr<const EventList>& list) {
  is_as_wanted_ = false;
  job_.start([this, list, column = sort_column_, direction = direction_](const LatestJob::Context& job) {
    const auto progress = [most = static_cast<double>(std::max<std::uint64_t>(1, list->stream->most)), tell = progressOf(job)](std::uint64_t seen) {
      tell(static_cast<double>(seen) / most);
    };
    auto folds = std::make_shared<const std::vector<EventFold>>(fold_stream(list->values, *list->stream, column, direction, progress, job.stop()));
    if (job.stop().stop_requested()) return;
    job.deliver([this, list, folds = std::move(folds)] { show(list, std::make_shared<const std::vector<EventRef>>(), nullptr, folds); });
  });
}

std::function<void(double)> EventTableModel::progressOf(const LatestJob::Context& job) {
  return [this, job, told = -1](double share) mutable {
    constexpr int kSteps = 200;
    if (const int now = static_cast<int>(share * kSteps); std::exchange(told, now) != now) job.deliver([this, share] { emit progressed(share); });
  };
}

void EventTableModel::stopSorting() { job_.cancel(); }

void EventTableModel::sortAgain() {
  if (wanted_) order(wanted_);
}

bool EventTableModel::isWhole() const {
  if (list_ != wanted_) return false;
  return !list_ || (list_->stream ? is_as_wanted_ : order_->size() == list_->events.size());
}

void EventTableModel::show(std::shared_ptr<const EventList> list, Order order, Stored stored, Folds folds, std::vector<int> sought_rows) {
  sought_rows_ = std::move(sought_rows);
  const bool is_same_list = list_ == list && list;
  const auto put = [&] {
    list_ = std::move(list);
    order_ = std::move(order);
    stored_ = std::move(stored);
    is_as_wanted_ = stored_ != nullptr || folds != nullptr;
    folds_ = std::move(folds);
    countRows();
    page_.clear();
  };
  const bool comes_behind_first_page = is_same_list && list_->stream && !stored_ && !folds_ && stored && order_ == order;
  if (comes_behind_first_page && stored->size() > order_->size()) {
    const auto last = static_cast<int>(std::min<std::uint64_t>(stored->size(), kLargestTable)) - 1;
    beginInsertRows({}, static_cast<int>(order_->size()), last);
    put();
    endInsertRows();
  } else if (is_same_list && !list_->stream && !folds_ && !folds) {  // the same rows in another order: the view keeps its place
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
