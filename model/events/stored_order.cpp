#include "model/events/stored_order.h"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "model/events/column_reader.h"
#include "sorted_positions.h"

namespace lanescope {
namespace {

struct Record {
  std::uint64_t rank;  // ascends in the wanted order
  EventRef event;
};
static_assert(sizeof(Record) == 16 && std::is_trivially_copyable_v<Record> && std::is_trivially_copyable_v<EventRef>);

constexpr std::uint64_t kBytesPerSorted = 48;  // an event, its number, and the memory for sorting
constexpr std::size_t kFewest = 4;             // records of a run, and of the part of it that is read at once

std::unique_ptr<ScratchFile> scratch_in(const std::filesystem::path& folder) {
  return std::make_unique<ScratchFile>(folder, "Ordering takes 24 bytes for each event for a while.");
}

// Appends values to a file in large blocks.
template <typename Value>
class Appender {
 public:
  Appender(ScratchFile& file, std::size_t at_once) : file_(file), at_once_(at_once) { values_.reserve(at_once); }
  Result<void> add(const Value& value) {
    values_.push_back(value);
    return values_.size() < at_once_ ? Result<void>() : flush();
  }
  Result<void> flush() {
    Result<void> appended = file_.append(std::as_bytes(std::span(values_)));
    values_.clear();
    return appended;
  }

 private:
  ScratchFile& file_;
  std::size_t at_once_;
  std::vector<Value> values_;
};

// Runs of sorted records, one after the other in a file.
class Runs {
 public:
  Runs(const ColumnReader& reader, SortDirection direction, const OrderRoom& room)
      : reader_(reader),
        direction_(direction),
        memory_(room.memory_bytes),
        events_per_run_(std::max<std::size_t>(kFewest, room.memory_bytes / kBytesPerSorted)),
        file_(scratch_in(room.folder)) {}

  // Adds the next events by start: of equal records, those of an earlier run come first.
  Result<void> add(std::span<const EventRef> events, const std::stop_token& stop) {
    while (!events.empty()) {
      const std::size_t count = std::min(events.size(), events_per_run_ - waiting_.size());
      waiting_.insert(waiting_.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
      events = events.subspan(count);
      if (waiting_.size() < events_per_run_) continue;
      if (Result<void> written = write_run(stop); !written) return written;
    }
    return {};
  }

  // Calls take(event) for each in order. After that, no event may be added.
  template <typename Take>
  Result<void> merge(const std::stop_token& stop, Take take) {
    if (Result<void> written = write_run(stop); !written) return written;
    std::vector<EventRef>().swap(waiting_);
    at_once_ = std::max<std::size_t>(kFewest, memory_ / std::max<std::size_t>(1, begins_.size()) / sizeof(Record));
    std::vector<Run> runs;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      runs.push_back({begins_[i], i + 1 < begins_.size() ? begins_[i + 1] : file_->size(), {}, 0});
      if (Result<void> read = fill(runs.back()); !read) return read;
    }
    const auto later = [&](std::size_t a, std::size_t b) {
      const std::uint64_t rank_a = runs[a].front().rank, rank_b = runs[b].front().rank;
      return rank_a != rank_b ? rank_a > rank_b : a > b;
    };
    std::vector<std::size_t> heap(runs.size());
    for (std::size_t i = 0; i < heap.size(); ++i) heap[i] = i;
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty() && !stop.stop_requested()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      Run& first = runs[heap.back()];
      if (Result<void> taken = take(first.front().event); !taken) return taken;
      if (++first.at == first.records.size())
        if (Result<void> read = fill(first); !read) return read;
      if (first.records.empty())
        heap.pop_back();
      else
        std::push_heap(heap.begin(), heap.end(), later);
    }
    return {};
  }

 private:
  struct Run {
    std::uint64_t next, end;      // range of bytes in the file that were not read yet
    std::vector<Record> records;  // some records that were read; empty after the last
    std::size_t at;
    [[nodiscard]] const Record& front() const noexcept { return records[at]; }
  };

  Result<void> fill(Run& run) const {
    run.records.resize(std::min<std::uint64_t>(at_once_, (run.end - run.next) / sizeof(Record)));
    run.at = 0;
    const auto bytes = std::as_writable_bytes(std::span(run.records));
    const std::uint64_t from = std::exchange(run.next, run.next + bytes.size());
    return file_->read(from, bytes);
  }

  Result<void> write_run(const std::stop_token& stop) {
    if (waiting_.empty()) return {};
    LargeArray<std::int64_t> numbers(waiting_.size());
    reader_.read(waiting_, numbers.span());
    std::vector<std::int64_t> kept(numbers.begin(), numbers.end());
    const LargeArray<std::uint32_t> positions = sorted_positions(std::move(numbers), direction_, stop);
    if (stop.stop_requested()) return {};
    begins_.push_back(file_->size());
    Appender<Record> records(*file_, std::clamp<std::size_t>(waiting_.size(), kFewest, 1u << 14));
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::uint32_t position = positions[i];
      if (Result<void> added = records.add({sort_rank(kept[position], direction_), waiting_[position]}); !added) return added;
    }
    waiting_.clear();
    return records.flush();
  }

  const ColumnReader& reader_;
  SortDirection direction_;
  std::uint64_t memory_;
  std::size_t events_per_run_;
  std::size_t at_once_ = kFewest;  // records of each run in memory during the merge
  std::unique_ptr<ScratchFile> file_;
  std::vector<std::uint64_t> begins_;  // begins of runs in the file
  std::vector<EventRef> waiting_;      // for the next run
};

}  // namespace

namespace {

constexpr std::uint64_t kStep = 1u << 16;  // events between calls of progress

// Writes the order as it is determined.
class Written {
 public:
  Written(ScratchFile& order, std::uint64_t count, const OrderListener& listener)
      : events_(order, 1u << 14), first_count_(std::min<std::uint64_t>(count, listener.first_count)), listener_(listener) {}
  Result<void> add(EventRef event) {
    if (count_ < first_count_) first_.push_back(event);
    if (++count_ == first_count_ && listener_.first) listener_.first(std::exchange(first_, {}));
    return events_.add(event);
  }
  Result<void> flush() {
    if (!first_.empty() && listener_.first) listener_.first(std::exchange(first_, {}));
    return events_.flush();
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  Appender<EventRef> events_;
  std::uint64_t first_count_, count_ = 0;
  const OrderListener& listener_;
  std::vector<EventRef> first_;
};

// The first page if heads of segments lead to it; else none.
std::optional<std::vector<EventRef>> first_page(const EventValues& values, const EventStream& events, EventColumn column, SortDirection direction,
                                                const OrderListener& listener, const std::stop_token& stop) {
  if (!listener.first || direction != SortDirection::kDescending) return std::nullopt;
  if (column == EventColumn::kDuration && events.longest) return events.longest(listener.first_count, stop);
  if (column == EventColumn::kGapBefore && events.after_longest_gaps) return events.after_longest_gaps(values, listener.first_count, stop);
  return std::nullopt;
}

}  // namespace

Result<std::optional<StoredOrder>> StoredOrder::make(const EventValues& values, const EventStream& events, EventColumn column, SortDirection direction,
                                                     const OrderRoom& room, const OrderListener& listener, std::stop_token stop) {
  const auto tell = [&](double share) {
    if (listener.progress) listener.progress(std::min(share, 1.0));
  };
  const auto most = static_cast<double>(std::max<std::uint64_t>(1, events.most));
  const bool is_as_it_comes = column == EventColumn::kStart && direction == SortDirection::kAscending;
  StoredOrder order(scratch_in(room.folder), column, direction);
  Result<void> result;
  if (is_as_it_comes) {
    Written written(*order.order_, events.most, listener);
    events.visit(
        [&](std::span<const EventRef> part) {
          for (const EventRef event : part)
            if (result = written.add(event); !result) return false;
          tell(static_cast<double>(written.count()) / most);
          return true;
        },
        stop);
    if (result) result = written.flush();
  } else {
    OrderListener told = listener;
    if (auto first = first_page(values, events, column, direction, listener, stop)) {
      if (!first->empty()) listener.first(*std::move(first));
      told.first = nullptr;
    }
    const ColumnReader reader(values, column, stop);
    Runs runs(reader, direction, room);
    std::uint64_t all = 0;
    events.visit(
        [&](std::span<const EventRef> part) {
          result = runs.add(part, stop);
          all += part.size();
          tell(static_cast<double>(all) / (2 * most));
          return result.has_value();
        },
        stop);
    if (result && !stop.stop_requested()) {
      Written written(*order.order_, all, told);
      result = runs.merge(stop, [&](EventRef event) {
        if (written.count() % kStep == 0) tell(0.5 + static_cast<double>(written.count()) / (2 * static_cast<double>(all)));
        return written.add(event);
      });
      if (result) result = written.flush();
    }
  }
  if (!result) return result.error();
  if (stop.stop_requested()) return std::optional<StoredOrder>();
  tell(1);
  return std::optional(std::move(order));
}

Result<void> StoredOrder::read(std::uint64_t first, std::span<EventRef> into) const {
  return order_->read(first * sizeof(EventRef), std::as_writable_bytes(into));
}

Result<std::optional<std::uint64_t>> StoredOrder::find(const EventValues& values, EventRef event) const {
  constexpr std::uint64_t kMostEqual = 1'000'000;  // events that are searched one by one
  if (column_ == EventColumn::kNvtxRange) return find_between(0, std::min(size(), kMostEqual), event);
  // A reader of these columns would read all events first.
  const bool asks_for_each = column_ == EventColumn::kGapBefore || column_ == EventColumn::kQueueTime;
  const ColumnReader reader(values, asks_for_each ? EventColumn::kStart : column_);
  // Events of equal rank are ordered by start.
  const auto place_of = [&](EventRef one) {
    std::int64_t number = ColumnReader::kMissing;
    if (asks_for_each)
      number = values.number(one, column_).value_or(ColumnReader::kMissing);
    else
      reader.read({&one, 1}, {&number, 1});
    return std::pair(sort_rank(number, direction_), values.trace().lane(one.lane).start(one.index));
  };
  const auto wanted = place_of(event);
  const auto first_not_before = [&](auto is_before) -> Result<std::uint64_t> {
    std::uint64_t begin = 0, end = size();
    while (begin < end) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      EventRef one;
      if (auto done = read(middle, {&one, 1}); !done) return done.error();
      if (is_before(place_of(one)))
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  };
  const auto first = first_not_before([&](const auto& place) { return place < wanted; });
  if (!first) return first.error();
  const auto end = first_not_before([&](const auto& place) { return place <= wanted; });
  if (!end) return end.error();
  return find_between(*first, std::min(*end, *first + kMostEqual), event);
}

Result<std::optional<std::uint64_t>> StoredOrder::find_between(std::uint64_t first, std::uint64_t end, EventRef event) const {
  constexpr std::uint64_t kAtOnce = 1u << 16;
  std::vector<EventRef> events;
  for (; first < end; first += events.size()) {
    events.resize(std::min(kAtOnce, end - first));
    if (auto done = read(first, events); !done) return done.error();
    if (const auto position = position_of(events, event)) return std::optional(first + *position);
  }
  return std::optional<std::uint64_t>();
}

}  // namespace lanescope
