#include "timeline/core/interval_union.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace lanescope::timeline {
namespace {

// Walks through a lane's events, segment by segment.
class Cursor {
 public:
  Cursor(const BusyLane& of, Nanoseconds from) : lane_(of.lane), subset_(of.subset) {
    index_ = subset_ != nullptr ? subset_->lower_bound(from) : lane_->lower_bound(from);
    size_ = subset_ != nullptr ? subset_->size() : lane_->size();
    read();
  }
  [[nodiscard]] bool at_end() const noexcept { return index_ == size_; }
  [[nodiscard]] Nanoseconds start() const noexcept { return start_; }
  [[nodiscard]] Nanoseconds end() const noexcept { return end_; }
  void next() noexcept {
    ++index_;
    read();
  }

 private:
  void read() noexcept {
    if (at_end()) return;
    const EventIndex at = subset_ != nullptr ? subset_->source_index(index_) : index_;
    const EventIndex first = at / LaneSegment::kCapacity * LaneSegment::kCapacity;
    if (segment_ == nullptr || first != segment_first_) {
      segment_ = lane_->segments()[at / LaneSegment::kCapacity].get();
      segment_first_ = first;
    }
    start_ = segment_->start(at - first);
    end_ = start_ + segment_->duration(at - first);
  }

  const Lane* lane_;
  const LaneSubset* subset_;
  const LaneSegment* segment_ = nullptr;
  EventIndex segment_first_ = 0;
  EventIndex index_ = 0;
  EventIndex size_ = 0;
  Nanoseconds start_ = 0;
  Nanoseconds end_ = 0;
};

// Which of several cursors comes first: a heap of their starts.
class FirstOf {
 public:
  explicit FirstOf(const std::vector<Cursor>& cursors) {
    for (std::uint32_t index = 0; index < cursors.size(); ++index) heap_.push_back({cursors[index].start(), index});
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::uint32_t index() const noexcept { return heap_.front().second; }
  // Up to when no other comes before the first.
  [[nodiscard]] Nanoseconds next_start() const noexcept {
    if (heap_.size() < 2) return std::numeric_limits<Nanoseconds>::max();
    return heap_.size() == 2 ? heap_[1].first : std::min(heap_[1].first, heap_[2].first);
  }
  // The first has moved on to another start.
  void replace(Nanoseconds start) noexcept {
    const Entry moved{start, heap_.front().second};
    std::size_t hole = 0;
    while (true) {
      std::size_t child = 2 * hole + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moved)) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = moved;
  }
  // The first has come to its end.
  void remove() noexcept {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

 private:
  using Entry = std::pair<Nanoseconds, std::uint32_t>;
  std::vector<Entry> heap_;
};

}  // namespace

AscendingTimes::AscendingTimes(std::span<const Nanoseconds> times) : first_(times.front()) {
  if (times.back() - first_ > std::numeric_limits<std::uint32_t>::max()) {
    far_.assign(times.begin(), times.end());
    return;
  }
  near_.resize(times.size());
  std::transform(times.begin(), times.end(), near_.begin(), [this](Nanoseconds time) { return static_cast<std::uint32_t>(time - first_); });
}

std::size_t AscendingTimes::lower_bound(Nanoseconds t, std::size_t from, std::size_t to) const noexcept {
  const auto within = [&](const auto& times, auto wanted) {
    const auto begin = times.begin() + static_cast<std::ptrdiff_t>(from);
    return static_cast<std::size_t>(std::lower_bound(begin, times.begin() + static_cast<std::ptrdiff_t>(to), wanted) - times.begin());
  };
  if (!far_.empty()) return within(far_, t);
  if (t <= first_) return from;
  return t - first_ > std::numeric_limits<std::uint32_t>::max() ? to : within(near_, static_cast<std::uint32_t>(t - first_));
}

std::size_t AscendingTimes::memory_bytes() const noexcept {
  return near_.capacity() * sizeof(std::uint32_t) + far_.capacity() * sizeof(Nanoseconds);
}

// Appends intervals to a union.
class IntervalUnion::Writer {
 public:
  explicit Writer(IntervalUnion& into) : into_(into) {
    starts_.reserve(kCapacity);
    busy_.reserve(kCapacity + 1);
    busy_.push_back(0);
  }
  // Begins with the first `count` intervals of another union.
  void copy(const IntervalUnion& from, std::size_t count) {
    const auto full = static_cast<std::ptrdiff_t>(count / kCapacity);
    const std::size_t rest = count % kCapacity;
    into_.parts_.assign(from.parts_.begin(), from.parts_.begin() + full);
    if (full > 0) busy_ = {into_.parts_.back()->busy.back()};
    if (rest == 0) return;
    const Part& last = *from.parts_[static_cast<std::size_t>(full)];
    for (std::size_t i = 0; i < rest; ++i) {
      starts_.push_back(last.starts[i]);
      busy_.push_back(last.busy[i + 1]);
    }
  }
  void add(Nanoseconds start, Nanoseconds end) {
    starts_.push_back(start);
    busy_.push_back(busy_.back() + end - start);
    if (starts_.size() == kCapacity) flush();
  }
  void finish() {
    if (!starts_.empty()) flush();
  }

 private:
  void flush() {
    const Nanoseconds busy = busy_.back();
    into_.parts_.push_back(std::make_shared<const Part>(Part{AscendingTimes(starts_), AscendingTimes(busy_)}));
    starts_.clear();
    busy_ = {busy};
  }
  IntervalUnion& into_;
  std::vector<Nanoseconds> starts_;  // of the part that is written, as busy_
  std::vector<Nanoseconds> busy_;
};

IntervalUnion::IntervalUnion(std::span<const BusyLane> lanes) {
  Writer writer(*this);
  merge(lanes, std::numeric_limits<Nanoseconds>::min(), writer);
}

IntervalUnion::IntervalUnion(std::span<const BusyLane> lanes, const IntervalUnion& before, Nanoseconds unchanged_until) {
  std::size_t kept = before.lower_bound(unchanged_until);
  if (kept > 0 && before.end(kept - 1) >= unchanged_until) --kept;  // it may go on
  const Nanoseconds from = kept < before.size() ? std::min(before.start(kept), unchanged_until) : unchanged_until;
  Writer writer(*this);
  writer.copy(before, kept);
  merge(lanes, from, writer);
}

// Appends the events that start at `from` or later. Requires: intervals that are here already end before it.
void IntervalUnion::merge(std::span<const BusyLane> lanes, Nanoseconds from, Writer& writer) {
  std::vector<Cursor> cursors;
  for (const BusyLane& lane : lanes)
    if (const Cursor cursor(lane, from); !cursor.at_end()) cursors.push_back(cursor);
  Nanoseconds open_start = 0;
  Nanoseconds open_end = 0;
  bool open = false;
  for (FirstOf first(cursors); !first.empty();) {
    Cursor& cursor = cursors[first.index()];
    const Nanoseconds others = first.next_start();
    do {
      if (cursor.end() == cursor.start()) {
        // covers nothing
      } else if (open && cursor.start() <= open_end) {
        open_end = std::max(open_end, cursor.end());
      } else {
        if (open) writer.add(open_start, open_end);
        open_start = cursor.start();
        open_end = cursor.end();
        open = true;
      }
      cursor.next();
    } while (!cursor.at_end() && cursor.start() <= others);
    if (cursor.at_end())
      first.remove();
    else
      first.replace(cursor.start());
  }
  if (open) writer.add(open_start, open_end);
  writer.finish();
}

std::size_t IntervalUnion::lower_bound(Nanoseconds t) const noexcept {
  const auto found =
      std::lower_bound(parts_.begin(), parts_.end(), t, [](const auto& part, Nanoseconds time) { return part->starts.back() < time; });
  if (found == parts_.end()) return size();
  const AscendingTimes& starts = (*found)->starts;
  return static_cast<std::size_t>(found - parts_.begin()) * kCapacity + starts.lower_bound(t, 0, starts.size());
}

Nanoseconds IntervalUnion::busy_before(Nanoseconds t, std::size_t lower_bound_of_t) const noexcept {
  if (lower_bound_of_t == 0) return 0;
  const std::size_t last = lower_bound_of_t - 1;
  return part(last).busy[last % kCapacity + 1] - std::max<Nanoseconds>(0, end(last) - t);
}

void IntervalUnion::busy_before(std::span<const Nanoseconds> times, std::span<Nanoseconds> into) const noexcept {
  std::size_t done = 0;
  auto reaches = parts_.begin();
  while (done < times.size()) {
    reaches =
        std::lower_bound(reaches, parts_.end(), times[done], [](const auto& part, Nanoseconds time) { return part->starts.back() < time; });
    if (reaches == parts_.end()) break;
    const auto p = static_cast<std::size_t>(reaches - parts_.begin());
    const AscendingTimes& starts = (*reaches)->starts;
    std::size_t from = 0;
    for (; done < times.size() && times[done] <= starts.back(); ++done) {
      // Neighbouring times are often near each other: look close by first.
      std::size_t step = 8;
      while (starts.size() - from > step && starts[from + step] < times[done]) {
        from += step;
        step *= 2;
      }
      from = starts.lower_bound(times[done], from, std::min(starts.size(), from + step + 1));
      into[done] = busy_before(times[done], p * kCapacity + from);
    }
  }
  for (; done < times.size(); ++done) into[done] = busy_before(times[done], size());
}

std::size_t IntervalUnion::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto& each : parts_) bytes += sizeof(Part) + each->starts.memory_bytes() + each->busy.memory_bytes();
  return bytes;
}

}  // namespace lanescope::timeline
