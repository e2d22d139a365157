#include "model/trace/lane.h"

#include <cassert>
#include <memory>
#include <type_traits>

#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/scratch_memory.h"

namespace lanescope {
namespace {

constexpr std::size_t kAtOnce = 16;  // searches in step: about as many cache misses as a core can have under way

// Searches for `Count` times in step: each halving step of all searches is one batch of independent loads.
template <std::size_t Count, typename Time>
void search(const Time* sorted, std::size_t size, const Time* times, EventIndex* into, EventIndex offset) {
  const Time* base[Count];
  for (std::size_t k = 0; k < Count; ++k) base[k] = sorted;
  std::size_t length = size;
  for (; length > 1; length -= length / 2) {
    const std::size_t half = length / 2;
    for (std::size_t k = 0; k < Count; ++k) base[k] += base[k][half - 1] < times[k] ? half : 0;
  }
  for (std::size_t k = 0; k < Count; ++k) into[k] = offset + static_cast<EventIndex>(base[k] - sorted) + (*base[k] < times[k] ? 1 : 0);
}

template <typename Time, typename TimeOf>
void search_all(const Time* sorted, std::size_t size, std::span<const Nanoseconds> times, TimeOf time_of, EventIndex* into, EventIndex offset) {
  Time wanted[kAtOnce];
  for (std::size_t done = 0; done < times.size();) {
    const std::size_t count = std::min(kAtOnce, times.size() - done);
    for (std::size_t k = 0; k < count; ++k) wanted[k] = time_of(times[done + k]);
    if (count == kAtOnce)
      search<kAtOnce>(sorted, size, wanted, into + done, offset);
    else
      for (std::size_t k = 0; k < count; ++k) search<1>(sorted, size, wanted + k, into + done + k, offset);
    done += count;
  }
}

// What the pyramid of a segment under construction asks for.
template <typename DurationOf>
struct MadeEvents {
  DurationOf duration_of;
  const NameId* names;
  [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept { return duration_of(i); }
  [[nodiscard]] NameId name(EventIndex i) const noexcept { return names[i]; }
};

}  // namespace

LaneSegment::LaneSegment(std::span<const Event> events, std::shared_ptr<ScratchBlock> block) : block_(std::move(block)) {
  assert(!events.empty() && events.size() <= kCapacity);
  const std::size_t n = events.size();
  // Columns are read several times. Separate columns stay in the processor's cache; whole events would not.
  const auto ids = std::make_unique_for_overwrite<std::uint32_t[]>(3 * n);
  std::uint32_t *const names = ids.get(), *const correlations = names + n, *const details = correlations + n;
  ColumnMemory* const memory = block_ ? &block_->memory() : nullptr;
  durations_ = FixedArray<std::uint32_t>(n, memory);
  busy_before_block_ = FixedArray<Nanoseconds>((n + kBlock - 1) / kBlock + 1, memory);
  std::uint32_t* const durations = durations_.data();
  std::uint32_t smallest = events.front().correlation, largest = smallest, last_correlation = 0;
  bool ascend = true, any_is_long = false;
  Nanoseconds busy = 0;
  for (std::size_t first = 0; first < n; first += kBlock) {
    busy_before_block_[first / kBlock] = busy;
    for (std::size_t i = first; i < std::min<std::size_t>(n, first + kBlock); ++i) {
      const Event& event = events[i];
      busy += event.duration;
      durations[i] = static_cast<std::uint32_t>(std::min<Nanoseconds>(event.duration, kLong));
      any_is_long |= event.duration >= kLong;
      names[i] = event.name;
      correlations[i] = event.correlation;
      details[i] = event.detail;
      ascend &= event.correlation >= last_correlation;
      last_correlation = event.correlation;
      smallest = std::min(smallest, event.correlation);
      largest = std::max(largest, event.correlation);
    }
  }
  busy_before_block_[busy_before_block_.size() - 1] = busy;
  smallest_correlation_ = smallest;
  largest_correlation_ = largest;
  correlations_ascend_ = ascend;
  for (std::size_t i = 0; any_is_long && i < n; ++i)
    if (durations[i] == kLong) long_durations_.emplace_back(static_cast<EventIndex>(i), events[i].duration);
  starts_ = AscendingTimes(
      n, [events](std::size_t i) { return events[i].start; }, memory);
  names_ = PackedColumn(
      n, [names](std::size_t i) { return names[i]; }, memory);
  correlations_ = PackedColumn(
      n, [correlations](std::size_t i) { return correlations[i]; }, memory);
  details_ = PackedColumn(
      n, [details](std::size_t i) { return details[i]; }, memory);
  const auto duration_of = [this](EventIndex i) { return duration(i); };
  const auto short_duration_of = [durations](EventIndex i) { return Nanoseconds{durations[i]}; };
  summary_ = any_is_long ? SummaryPyramid(MadeEvents<decltype(duration_of)>{duration_of, names}, size(), memory)
                         : SummaryPyramid(MadeEvents<decltype(short_duration_of)>{short_duration_of, names}, size(), memory);
  if (block_) ScratchBlock::seal(block_, ScratchBlock::WhereDiskIsBehind::kWait);
}

LaneSegment::LaneSegment(const EventColumns& events) {
  const std::size_t n = events.starts.size();
  assert(n > 0 && n <= kCapacity);
  durations_ = FixedArray<std::uint32_t>(n);
  busy_before_block_ = FixedArray<Nanoseconds>((n + kBlock - 1) / kBlock + 1);
  const Nanoseconds* const durations = events.durations.data();
  const std::uint32_t* const correlations = events.correlations.data();
  std::uint32_t smallest = correlations[0], largest = smallest;
  Nanoseconds busy = 0, any = 0;
  bool descend = false;
  const auto add_block = [&](std::size_t first, auto count) {
    busy_before_block_[first / kBlock] = busy;
    Nanoseconds of_block = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      of_block += durations[i];
      any |= durations[i];
      durations_[i] = static_cast<std::uint32_t>(durations[i]);
    }
    busy += of_block;
    for (std::size_t i = first; i < first + count; ++i) {
      smallest = std::min(smallest, correlations[i]);
      largest = std::max(largest, correlations[i]);
    }
    for (std::size_t i = first; i + 1 < first + count; ++i) descend |= correlations[i + 1] < correlations[i];
    descend |= first > 0 && correlations[first] < correlations[first - 1];
  };
  std::size_t first = 0;
  for (; first + kBlock <= n; first += kBlock) add_block(first, std::integral_constant<std::size_t, kBlock>());  // loops whose length is known
  if (first < n) add_block(first, n - first);
  busy_before_block_[busy_before_block_.size() - 1] = busy;
  for (std::size_t i = 0; any >= Nanoseconds{kLong} && i < n; ++i) {
    if (durations[i] < Nanoseconds{kLong}) continue;
    durations_[i] = kLong;
    long_durations_.emplace_back(static_cast<EventIndex>(i), durations[i]);
  }
  smallest_correlation_ = smallest;
  largest_correlation_ = largest;
  correlations_ascend_ = !descend;
  starts_ = AscendingTimes(events.starts);
  names_ = PackedColumn(n, [names = events.names.data()](std::size_t i) { return names[i]; });
  correlations_ = PackedColumn(n, [correlations](std::size_t i) { return correlations[i]; });
  details_ = PackedColumn(n, [details = events.details.data()](std::size_t i) { return details[i]; });
  summary_ = SummaryPyramid(static_cast<EventIndex>(n));
  summary_waits_ = true;
}

std::shared_ptr<const LaneSegment> LaneSegment::of_times(std::span<const Nanoseconds> starts, std::span<const Nanoseconds> durations) {
  assert(!starts.empty() && starts.size() <= kCapacity && starts.size() == durations.size());
  const std::shared_ptr<LaneSegment> segment(new LaneSegment());
  segment->starts_ = AscendingTimes(starts);
  segment->durations_ = FixedArray<std::uint32_t>(durations.size());
  for (std::size_t i = 0; i < durations.size(); ++i) {
    segment->durations_[i] = static_cast<std::uint32_t>(std::min<Nanoseconds>(durations[i], kLong));
    if (durations[i] >= kLong) segment->long_durations_.emplace_back(static_cast<EventIndex>(i), durations[i]);
  }
  return segment;
}

Nanoseconds LaneSegment::long_duration(EventIndex i) const noexcept {
  const auto found =
      std::lower_bound(long_durations_.begin(), long_durations_.end(), i, [](const auto& entry, EventIndex index) { return entry.first < index; });
  return found->second;
}

Nanoseconds LaneSegment::busy_before(EventIndex i) const noexcept {
  const EventIndex block = i / kBlock;
  Nanoseconds busy = busy_before_block_[block];
  for (EventIndex k = block * kBlock; k < i; ++k) busy += duration(k);
  return busy;
}

EventIndex LaneSegment::lower_bound(Nanoseconds t) const noexcept { return static_cast<EventIndex>(starts_.lower_bound(t, 0, size())); }

void LaneSegment::lower_bounds(std::span<const Nanoseconds> times, std::span<EventIndex> into, EventIndex segment_offset) const noexcept {
  // The times ascend, so all results lie between those of the first and the last.
  const std::size_t first = lower_bound(times.front());
  const std::size_t size = times.size() > 1 ? lower_bound(times.back()) - first : 0;
  const auto offset = segment_offset + static_cast<EventIndex>(first);
  if (size == 0) return std::fill(into.begin(), into.end(), offset);
  if (starts_.far().empty())
    search_all(
        &starts_.near()[first], size, times, [this](Nanoseconds t) { return starts_.distance(t); }, into.data(), offset);
  else
    search_all(
        &starts_.far()[first], size, times, [](Nanoseconds t) { return t; }, into.data(), offset);
}

EventIndex LaneSegment::common_prefix(const LaneSegment& other) const noexcept {
  const EventIndex shorter = std::min(size(), other.size());
  if (this == &other) return shorter;
  // Compares block by block, as memory, then event by event within the block that differs.
  constexpr EventIndex kCompared = 1024;
  const auto same = [&](EventIndex first, EventIndex last) {
    const auto equal = [&](const auto& a, const auto& b) { return std::equal(a.begin() + first, a.begin() + last, b.begin() + first); };
    return equal(starts_.near(), other.starts_.near()) && equal(durations_, other.durations_) && names_.same(other.names_, first, last) &&
           details_.same(other.details_, first, last);
  };
  const auto same_event = [&](EventIndex i) {
    return start(i) == other.start(i) && duration(i) == other.duration(i) && name(i) == other.name(i) && detail(i) == other.detail(i);
  };
  EventIndex prefix = 0;
  const bool distances = starts_.far().empty() && other.starts_.far().empty() && starts_.front() == other.starts_.front();
  if (distances && long_durations_.empty())
    while (prefix + kCompared <= shorter && same(prefix, prefix + kCompared)) prefix += kCompared;
  while (prefix < shorter && same_event(prefix)) ++prefix;
  return prefix;
}

EventIndex LaneSegment::find_correlation(std::uint32_t correlation, EventIndex from) const noexcept {
  if (correlation < smallest_correlation_ || correlation > largest_correlation_) return size();
  EventIndex found = from;
  if (correlations_ascend_) {
    for (EventIndex after = size(); found < after;) {
      const EventIndex middle = found + (after - found) / 2;
      if (correlations_[middle] < correlation)
        found = middle + 1;
      else
        after = middle;
    }
  } else {
    while (found < size() && correlations_[found] != correlation) ++found;
  }
  return found < size() && correlations_[found] == correlation ? found : size();
}

std::size_t LaneSegment::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + starts_.memory_bytes() + durations_.memory_bytes() + names_.memory_bytes() + correlations_.memory_bytes() +
                      details_.memory_bytes() + long_durations_.capacity() * sizeof(long_durations_[0]) + busy_before_block_.memory_bytes();
  return bytes + summary_.memory_bytes() + (block_ ? block_->memory_bytes() : 0);
}

bool LaneSegment::is_in_file() const noexcept { return block_ != nullptr && block_->is_in_file(); }

Lane::Lane(std::vector<std::shared_ptr<const LaneSegment>> segments) : segments_(std::move(segments)) {
  busy_before_segment_.reserve(segments_.size() + 1);
  busy_before_segment_.push_back(0);
  for (const auto& segment : segments_) {
    assert(size_ % LaneSegment::kCapacity == 0);
    size_ += segment->size();
    busy_before_segment_.push_back(busy_before_segment_.back() + segment->busy_total());
  }
}

Lane::Lane(std::shared_ptr<const DemandedSegments> segments) : segments_(segments->bounds().size()), demanded_(std::move(segments)) {
  busy_before_segment_.reserve(segments_.size() + 1);
  busy_before_segment_.push_back(0);
  for (const SegmentBounds& bounds : demanded_->bounds()) {
    assert(size_ % LaneSegment::kCapacity == 0);
    size_ += bounds.count;
    busy_before_segment_.push_back(busy_before_segment_.back() + bounds.busy);
  }
}

const LaneSegment& Lane::demanded(std::size_t s) const noexcept { return demanded_->pinned(s); }

std::shared_ptr<const LaneSegment> Lane::segment(std::size_t s) const noexcept { return segments_[s] != nullptr ? segments_[s] : demanded_->held(s); }

SegmentTimes Lane::times(std::size_t s) const noexcept { return SegmentTimes(segments_[s] != nullptr ? segments_[s] : demanded_->held_times(s)); }

Nanoseconds Lane::segment_start(std::size_t s) const noexcept { return segments_[s] != nullptr ? segments_[s]->start(0) : demanded_->bounds()[s].first_start; }

Nanoseconds Lane::segment_end(std::size_t s) const noexcept {
  if (segments_[s] == nullptr) return demanded_->bounds()[s].end;
  const EventIndex last = segments_[s]->size() - 1;
  return segments_[s]->start(last) + segments_[s]->duration(last);
}

Nanoseconds Lane::last_start(std::size_t s) const noexcept {
  return segments_[s] != nullptr ? segments_[s]->start(segments_[s]->size() - 1) : demanded_->bounds()[s].last_start;
}

CorrelationBounds Lane::segment_correlations(std::size_t s) const noexcept {
  if (segments_[s] == nullptr) return demanded_->bounds()[s].correlations;
  return {segments_[s]->smallest_correlation(), segments_[s]->largest_correlation()};
}

std::uint64_t Lane::segment_identity(std::size_t s) const noexcept {
  // Addresses of segments are even, so odd numbers can't collide with them.
  return segments_[s] != nullptr ? reinterpret_cast<std::uintptr_t>(segments_[s].get()) : 2 * demanded_->identity(s) + 1;
}

Event Lane::event(EventIndex i) const noexcept {
  const LaneSegment& s = of(i);
  const EventIndex k = i % LaneSegment::kCapacity;
  return {s.start(k), s.duration(k), s.name(k), s.correlation(k), s.detail(k)};
}

TimeRange Lane::extent() const noexcept {
  if (empty()) return {};
  return {segment_start(0), segment_end(segments_.size() - 1)};
}

std::size_t Lane::segment_at(Nanoseconds t) const noexcept {
  std::size_t s = 0;
  for (std::size_t after = segments_.size(); s < after;) {
    const std::size_t middle = s + (after - s) / 2;
    if (last_start(middle) < t)
      s = middle + 1;
    else
      after = middle;
  }
  return s;
}

EventIndex Lane::lower_bound(Nanoseconds t) const noexcept {
  const std::size_t s = segment_at(t);
  if (s == segments_.size()) return size_;
  const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
  return t <= segment_start(s) ? first : first + numbered(s).lower_bound(t);
}

void Lane::lower_bounds(std::span<const Nanoseconds> times, std::span<EventIndex> into) const noexcept {
  std::size_t done = 0;
  while (done < times.size()) {
    const EventIndex first = lower_bound(times[done]);
    if (first == size_) break;
    const EventIndex s = first / LaneSegment::kCapacity;
    const auto rest = times.subspan(done);
    const auto within = static_cast<std::size_t>(std::upper_bound(rest.begin(), rest.end(), last_start(s)) - rest.begin());
    numbered(s).lower_bounds(rest.first(within), into.subspan(done, within), s * LaneSegment::kCapacity);
    done += within;
  }
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(done), into.end(), size_);
}

EventIndex Lane::common_prefix(const Lane& other) const noexcept {
  EventIndex events = 0;
  for (std::size_t s = 0; s < std::min(segments_.size(), other.segments_.size()); ++s) {
    const EventIndex same = segment_identity(s) == other.segment_identity(s) ? segment_size(s) : segment(s)->common_prefix(*other.segment(s));
    events += same;
    if (same < LaneSegment::kCapacity) break;
  }
  return events;
}

std::optional<EventIndex> Lane::at(Nanoseconds t) const noexcept {
  const EventIndex after = lower_bound(t + 1);  // the event before it is the last that starts at or before t
  if (after == 0 || end(after - 1) <= t) return std::nullopt;
  return after - 1;
}

std::pair<EventIndex, EventIndex> Lane::overlapping(TimeRange window) const noexcept {
  EventIndex first = lower_bound(window.begin);
  if (first > 0 && end(first - 1) > window.begin) --first;
  return {first, std::max(first, lower_bound(window.end))};
}

Nanoseconds Lane::busy_before(Nanoseconds t) const noexcept { return busy_before(t, lower_bound(t)); }

Nanoseconds Lane::busy_before(Nanoseconds t, EventIndex first) const noexcept {
  if (first == 0) return 0;
  const EventIndex segment_index = first / LaneSegment::kCapacity;
  Nanoseconds busy = busy_before_segment_[segment_index];
  if (first % LaneSegment::kCapacity != 0) busy += numbered(segment_index).busy_before(first % LaneSegment::kCapacity);
  // Event first - 1 started before t and may reach past it. If it does not, its end and t may lie farther apart than the range of Nanoseconds.
  const Nanoseconds reached = end(first - 1);
  return reached > t ? busy - (reached - t) : busy;
}

LaneSummary Lane::summarize(EventIndex first, EventIndex last) const noexcept {
  LaneSummary summary;
  while (first < last) {
    const EventIndex segment_index = first / LaneSegment::kCapacity;
    const EventIndex offset = segment_index * LaneSegment::kCapacity;
    const EventIndex stop = std::min(last, offset + segment_size(segment_index));
    numbered(segment_index).summarize(first - offset, stop - offset, summary, offset);
    first = stop;
  }
  return summary;
}

EventIndex Lane::find_correlation(std::uint32_t correlation, EventIndex from) const noexcept {
  for (std::size_t s = from / LaneSegment::kCapacity; s < segments_.size(); ++s) {
    const CorrelationBounds bounds = segment_correlations(s);
    if (correlation < bounds.least || correlation > bounds.greatest) continue;
    const auto offset = static_cast<EventIndex>(s * LaneSegment::kCapacity);
    const EventIndex found = numbered(s).find_correlation(correlation, from > offset ? from - offset : 0);
    if (found != segment_size(s)) return offset + found;
  }
  return size_;
}

bool Lane::is_spilled() const noexcept {
  return std::any_of(segments_.begin(), segments_.end(), [](const auto& segment) { return segment != nullptr && segment->is_in_file(); });
}

std::size_t Lane::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto& segment : segments_)
    if (segment) bytes += segment->memory_bytes();
  return bytes + (demanded_ ? demanded_->bounds().size() * sizeof(SegmentBounds) : 0);
}

}  // namespace lanescope
