#include "model/trace/lane.h"

#include <cassert>

namespace lanescope {
namespace {

// Adds one candidate of a weighted majority vote (Misra-Gries with one counter) to a running one.
void vote(NameId name, Nanoseconds weight, NameId& candidate, Nanoseconds& candidate_weight) {
  if (name == candidate) {
    candidate_weight += weight;
  } else if (weight > candidate_weight) {
    candidate = name;
    candidate_weight = weight - candidate_weight;
  } else {
    candidate_weight -= weight;
  }
}

}  // namespace

LaneSegment::LaneSegment(std::span<const Event> events) {
  assert(!events.empty() && events.size() <= kCapacity);
  const std::size_t n = events.size();
  starts_.reserve(n);
  durations_.reserve(n);
  names_.reserve(n);
  correlations_.reserve(n);
  details_.reserve(n);
  smallest_correlation_ = largest_correlation_ = events.front().correlation;
  for (const Event& event : events) {
    const auto index = static_cast<EventIndex>(starts_.size());
    if (index > 0 && event.correlation < correlations_.back()) correlations_ascend_ = false;
    smallest_correlation_ = std::min(smallest_correlation_, event.correlation);
    largest_correlation_ = std::max(largest_correlation_, event.correlation);
    starts_.push_back(event.start);
    const bool fits = event.duration < static_cast<Nanoseconds>(kLong);
    durations_.push_back(fits ? static_cast<std::uint32_t>(event.duration) : kLong);
    if (!fits) long_durations_.emplace_back(index, event.duration);
    names_.push_back(event.name);
    correlations_.push_back(event.correlation);
    details_.push_back(event.detail);
  }

  const auto blocks = static_cast<EventIndex>((n + kBlock - 1) / kBlock);
  busy_before_block_.reserve(blocks + 1);
  busy_before_block_.push_back(0);
  std::vector<Node> level(blocks);
  for (EventIndex block = 0; block < blocks; ++block) {
    Node& node = level[block];
    Nanoseconds busy = 0;
    Nanoseconds longest = -1;
    for (EventIndex i = block * kBlock; i < std::min<EventIndex>(size(), (block + 1) * kBlock); ++i) {
      const Nanoseconds length = duration(i);
      busy += length;
      vote(names_[i], length, node.name, node.weight);
      if (length > longest) {
        longest = length;
        node.longest = i;
      }
    }
    busy_before_block_.push_back(busy_before_block_.back() + busy);
  }
  while (level.size() > 1) {
    std::vector<Node> above((level.size() + kFanOut - 1) / kFanOut);
    for (std::size_t i = 0; i < level.size(); ++i) {
      Node& node = above[i / kFanOut];
      if (i % kFanOut == 0) node.longest = level[i].longest;
      vote(level[i].name, level[i].weight, node.name, node.weight);
      if (duration(level[i].longest) > duration(node.longest)) node.longest = level[i].longest;
    }
    levels_.push_back(std::move(level));
    level = std::move(above);
  }
  levels_.push_back(std::move(level));
}

Nanoseconds LaneSegment::long_duration(EventIndex i) const noexcept {
  const auto found = std::lower_bound(long_durations_.begin(), long_durations_.end(), i,
                                      [](const auto& entry, EventIndex index) { return entry.first < index; });
  return found->second;
}

Nanoseconds LaneSegment::busy_before(EventIndex i) const noexcept {
  const EventIndex block = i / kBlock;
  Nanoseconds busy = busy_before_block_[block];
  for (EventIndex k = block * kBlock; k < i; ++k) busy += duration(k);
  return busy;
}

EventIndex LaneSegment::lower_bound(Nanoseconds t) const noexcept {
  return static_cast<EventIndex>(std::lower_bound(starts_.begin(), starts_.end(), t) - starts_.begin());
}

void LaneSegment::add_event(EventIndex i, LaneSummary& into, EventIndex segment_offset) const noexcept {
  const Nanoseconds length = duration(i);
  vote(names_[i], length, into.dominant, into.weight);
  if (length > into.longest_duration) {
    into.longest_duration = length;
    into.longest = segment_offset + i;
  }
}

void LaneSegment::summarize(EventIndex first, EventIndex last, LaneSummary& into, EventIndex segment_offset) const noexcept {
  into.count += last - first;
  while (first < last && first % kBlock != 0) add_event(first++, into, segment_offset);
  // Climb: take the largest aligned node that fits, from the left.
  while (first + kBlock <= last) {
    EventIndex span = kBlock;
    std::size_t height = 0;
    while (height + 1 < levels_.size() && first % (span * kFanOut) == 0 && first + span * kFanOut <= last) {
      span *= kFanOut;
      ++height;
    }
    const Node& node = levels_[height][first / span];
    vote(node.name, node.weight, into.dominant, into.weight);
    if (const Nanoseconds length = duration(node.longest); length > into.longest_duration) {
      into.longest_duration = length;
      into.longest = segment_offset + node.longest;
    }
    first += span;
  }
  while (first < last) add_event(first++, into, segment_offset);
}

EventIndex LaneSegment::find_correlation(std::uint32_t correlation, EventIndex from) const noexcept {
  if (correlation < smallest_correlation_ || correlation > largest_correlation_) return size();
  const auto begin = correlations_.begin() + from;
  const auto found =
      correlations_ascend_ ? std::lower_bound(begin, correlations_.end(), correlation) : std::find(begin, correlations_.end(), correlation);
  if (found == correlations_.end() || *found != correlation) return size();
  return static_cast<EventIndex>(found - correlations_.begin());
}

std::size_t LaneSegment::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + starts_.capacity() * sizeof(Nanoseconds) + durations_.capacity() * sizeof(std::uint32_t) +
                      names_.capacity() * sizeof(NameId) + correlations_.capacity() * sizeof(std::uint32_t) +
                      details_.capacity() * sizeof(DetailId) + long_durations_.capacity() * sizeof(long_durations_[0]) +
                      busy_before_block_.capacity() * sizeof(Nanoseconds);
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

Lane::Lane(std::vector<std::shared_ptr<const LaneSegment>> segments) : segments_(std::move(segments)) {
  busy_before_segment_.reserve(segments_.size() + 1);
  busy_before_segment_.push_back(0);
  for (const auto& segment : segments_) {
    assert(size_ % LaneSegment::kCapacity == 0);
    size_ += segment->size();
    busy_before_segment_.push_back(busy_before_segment_.back() + segment->busy_total());
  }
}

Event Lane::event(EventIndex i) const noexcept {
  const LaneSegment& s = segment(i);
  const EventIndex k = i % LaneSegment::kCapacity;
  return {s.start(k), s.duration(k), s.name(k), s.correlation(k), s.detail(k)};
}

TimeRange Lane::extent() const noexcept {
  if (empty()) return {};
  return {start(0), end(size_ - 1)};
}

EventIndex Lane::lower_bound(Nanoseconds t) const noexcept {
  const auto found = std::lower_bound(segments_.begin(), segments_.end(), t,
                                      [](const auto& s, Nanoseconds time) { return s->start(s->size() - 1) < time; });
  if (found == segments_.end()) return size_;
  return static_cast<EventIndex>(found - segments_.begin()) * LaneSegment::kCapacity + (*found)->lower_bound(t);
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
  if (first % LaneSegment::kCapacity != 0) busy += segments_[segment_index]->busy_before(first % LaneSegment::kCapacity);
  // Event first - 1 started before t and may reach past it.
  return busy - std::max<Nanoseconds>(0, end(first - 1) - t);
}

LaneSummary Lane::summarize(EventIndex first, EventIndex last) const noexcept {
  LaneSummary summary;
  while (first < last) {
    const EventIndex segment_index = first / LaneSegment::kCapacity;
    const EventIndex offset = segment_index * LaneSegment::kCapacity;
    const EventIndex stop = std::min(last, offset + segments_[segment_index]->size());
    segments_[segment_index]->summarize(first - offset, stop - offset, summary, offset);
    first = stop;
  }
  return summary;
}

EventIndex Lane::find_correlation(std::uint32_t correlation, EventIndex from) const noexcept {
  for (std::size_t s = from / LaneSegment::kCapacity; s < segments_.size(); ++s) {
    const EventIndex offset = static_cast<EventIndex>(s) * LaneSegment::kCapacity;
    const EventIndex found = segments_[s]->find_correlation(correlation, from > offset ? from - offset : 0);
    if (found != segments_[s]->size()) return offset + found;
  }
  return size_;
}

std::size_t Lane::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto& segment : segments_) bytes += segment->memory_bytes();
  return bytes;
}

}  // namespace lanescope
