#include "model/trace/segments/lane_in_parts.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "model/trace/segments/demanded_segments.h"

namespace lanescope {

Nanoseconds LaneInParts::Part::busy_before(EventIndex i) const noexcept {
  if (i == 0) return 0;
  const EventIndex block = (i - 1) / LaneSegment::kBlock;
  Nanoseconds busy = busy_before_block[block];
  for (EventIndex k = block * LaneSegment::kBlock; k < i; ++k) busy += events.durations[k];
  return busy;
}

LaneInParts::LaneInParts(const Lane& lane) : lane_(lane), demanded_(demanded_segments(lane)) {
  assert(demanded_ != nullptr || lane.holds_segments());
  busy_before_segment_.push_back(0);
  for (std::size_t s = 0; s < lane.segment_count(); ++s)
    busy_before_segment_.push_back(busy_before_segment_.back() + (demanded_ != nullptr ? demanded_->bounds()[s].busy : lane.segment(s)->busy_total()));
}

LaneInParts::Open& LaneInParts::open(std::size_t segment) const {
  ++questions_;
  Open* unused = &open_.front();
  for (Open& each : open_) {
    if (each.number == segment) {
      each.used = questions_;
      return each;
    }
    if (each.used < unused->used) unused = &each;
  }
  *unused = {segment, questions_, nullptr, nullptr, {}, {}};
  try {
    unused->in_parts = demanded_ != nullptr ? demanded_->parts(segment) : nullptr;
    if (unused->in_parts) {
      const std::span<const SegmentHead::Part> heads = unused->in_parts->heads();
      unused->parts.resize(heads.size());
      unused->busy_before.reserve(heads.size());
      Nanoseconds busy = 0;
      for (const SegmentHead::Part& head : heads) {
        unused->busy_before.push_back(busy);
        busy += head.busy;
      }
    }
  } catch (const std::bad_alloc&) {
    unused->in_parts.reset();
  }
  if (!unused->in_parts) read_whole(*unused);
  return *unused;
}

void LaneInParts::read_whole(Open& segment) const {
  segment.in_parts.reset();
  segment.parts.clear();
  segment.whole = lane_.segment(*segment.number);
}

const LaneInParts::Part* LaneInParts::part(Open& segment, std::size_t number) const {
  std::unique_ptr<Part>& known = segment.parts[number];
  if (known) return known.get();
  try {
    auto decoded = std::make_unique_for_overwrite<Part>();
    if (segment.in_parts->decode(number, decoded->events)) {
      Nanoseconds busy = 0;
      for (EventIndex i = 0; i < decoded->events.size; ++i) {
        if (i % LaneSegment::kBlock == 0) decoded->busy_before_block[i / LaneSegment::kBlock] = busy;
        busy += decoded->events.durations[i];
      }
      known = std::move(decoded);
      return known.get();
    }
  } catch (const std::bad_alloc&) {  // the cache makes room for a whole segment
  }
  read_whole(segment);
  return nullptr;
}

LaneInParts::Place LaneInParts::place(EventIndex i) const {
  Open& segment = open(i / LaneSegment::kCapacity);
  const EventIndex index = i % LaneSegment::kCapacity;
  if (!segment.whole)
    if (const Part* const found = part(segment, index / kPart)) return {nullptr, found, index % kPart};
  return {segment.whole.get(), nullptr, index};
}

Nanoseconds LaneInParts::start(EventIndex i) const {
  const Place at = place(i);
  return at.part != nullptr ? at.part->events.starts[at.index] : at.segment->start(at.index);
}

Nanoseconds LaneInParts::duration(EventIndex i) const {
  const Place at = place(i);
  return at.part != nullptr ? at.part->events.durations[at.index] : at.segment->duration(at.index);
}

Nanoseconds LaneInParts::end(EventIndex i) const {
  if (i + 1 == lane_.size() || (i + 1) % LaneSegment::kCapacity == 0) return lane_.segment_end(i / LaneSegment::kCapacity);
  if ((i + 1) % kPart == 0)
    if (const SegmentHead::Part* const head = known_head(i)) return head->end;
  const Place at = place(i);
  return at.part != nullptr ? at.part->events.starts[at.index] + at.part->events.durations[at.index]
                            : at.segment->start(at.index) + at.segment->duration(at.index);
}

const SegmentHead::Part* LaneInParts::known_head(EventIndex i) const {
  const Open& segment = open(i / LaneSegment::kCapacity);
  if (segment.whole) return nullptr;
  const SegmentHead::Part& head = segment.in_parts->heads()[i % LaneSegment::kCapacity / kPart];
  return head.is_fully_known() ? &head : nullptr;
}

Nanoseconds LaneInParts::longest_around(EventIndex i) const {
  const Open& segment = open(i / LaneSegment::kCapacity);
  return segment.whole ? segment.whole->duration(i % LaneSegment::kCapacity) : segment.in_parts->heads()[i % LaneSegment::kCapacity / kPart].longest;
}

NameId LaneInParts::name_of_longest(const LaneSummary& summary) const {
  const SegmentHead::Part* const head = known_head(summary.longest);
  return head != nullptr && head->longest_at == summary.longest % kPart ? head->longest_name : name(summary.longest);
}

NameId LaneInParts::name(EventIndex i) const {
  const Place at = place(i);
  return at.part != nullptr ? at.part->events.names[at.index] : at.segment->name(at.index);
}

DetailId LaneInParts::detail(EventIndex i) const {
  Open& segment = open(i / LaneSegment::kCapacity);
  const EventIndex index = i % LaneSegment::kCapacity;
  if (!segment.whole) {
    if (const auto detail = segment.in_parts->detail(index)) return *detail;
    read_whole(segment);
  }
  return segment.whole->detail(index);
}

EventIndex LaneInParts::lower_bound(Nanoseconds t) const {
  const std::size_t s = lane_.segment_at(t);
  if (s == lane_.segment_count()) return lane_.size();
  const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
  if (t <= lane_.segment_start(s)) return first;
  Open& segment = open(s);
  if (!segment.whole) {
    const std::span<const SegmentHead::Part> heads = segment.in_parts->heads();
    const auto behind = std::partition_point(heads.begin(), heads.end(), [t](const SegmentHead::Part& head) { return head.start < t; });
    if (behind == heads.begin()) return first;
    const auto number = static_cast<std::size_t>(behind - heads.begin()) - 1;
    if (heads[number].is_fully_known() && heads[number].end < t && behind != heads.end()) return first + static_cast<EventIndex>(number + 1) * kPart;
    if (const Part* const cut = part(segment, number)) {
      const auto starts = std::span(cut->events.starts).first(cut->events.size);
      const auto found = std::lower_bound(starts.begin(), starts.end(), t) - starts.begin();
      return first + static_cast<EventIndex>(number) * kPart + static_cast<EventIndex>(found);
    }
  }
  return first + segment.whole->lower_bound(t);
}

Nanoseconds LaneInParts::busy_before(Nanoseconds t, EventIndex first) const {
  if (first == 0) return 0;
  const EventIndex number = first / LaneSegment::kCapacity, index = first % LaneSegment::kCapacity;
  Nanoseconds busy = busy_before_segment_[number];
  if (index != 0) {
    Open& segment = open(number);
    const Part* const cut = !segment.whole && index % kPart != 0 ? part(segment, index / kPart) : nullptr;
    if (segment.whole)
      busy += segment.whole->busy_before(index);
    else
      busy += segment.busy_before[index / kPart] + (cut != nullptr ? cut->busy_before(index % kPart) : 0);
  }
  const Nanoseconds reached = end(first - 1);  // it and t may be farther apart than Nanoseconds can represent
  return reached > t ? busy - (reached - t) : busy;
}

LaneSummary LaneInParts::summarize(EventIndex first, EventIndex last) const {
  LaneSummary summary;
  while (first < last) {
    const EventIndex number = first / LaneSegment::kCapacity, offset = number * LaneSegment::kCapacity;
    const EventIndex stop = std::min(last, offset + LaneSegment::kCapacity);
    Open& segment = open(number);
    const LaneSummary before = summary;
    if (segment.whole || !summarize(segment, first - offset, stop - offset, summary, offset)) {
      summary = before;
      segment.whole->summarize(first - offset, stop - offset, summary, offset);
    }
    first = stop;
  }
  return summary;
}

// As SummaryPyramid::summarize(), where the nodes of parts are those of the segment's head.
bool LaneInParts::summarize(Open& segment, EventIndex first, EventIndex last, LaneSummary& into, EventIndex offset) const {
  const std::span<const SegmentHead::Part> heads = segment.in_parts->heads();
  std::optional<std::size_t> of_longest;  // a part that has the longest event so far, if that is not known itself
  const auto add_node = [&](NameId name, Nanoseconds weight, Nanoseconds longest, std::size_t part) {
    into.vote(name, weight);
    if (longest > into.longest_duration) of_longest = part;
    into.longest_duration = std::max(into.longest_duration, longest);
  };
  while (first < last) {
    const std::size_t number = first / kPart;
    if (first % kPart != 0 || last - first < kPart) {
      const EventIndex begin = first / kPart * kPart, stop = std::min(last, begin + kPart);
      const Part* const cut = part(segment, number);
      if (cut == nullptr) return false;
      const Nanoseconds before = into.longest_duration;
      SummaryPyramid::summarize_within(*cut, first - begin, stop - begin, into, offset + begin);
      if (into.longest_duration > before) of_longest.reset();
      first = stop;
      continue;
    }
    EventIndex span = kPart;
    while (first % (span * SummaryPyramid::kFanOut) == 0 && last - first >= span * SummaryPyramid::kFanOut) span *= SummaryPyramid::kFanOut;
    struct Node {
      LaneSummary sum;
      std::size_t longest = 0;  // the part with the longest event
    };
    const auto node_of = [&](const auto& self, std::size_t begin, std::size_t count) -> Node {
      if (count == 1) return {{0, heads[begin].dominant, heads[begin].weight, 0, heads[begin].longest}, begin};
      Node node;
      for (std::size_t child = begin; child < begin + count; child += count / SummaryPyramid::kFanOut) {
        const Node below = self(self, child, count / SummaryPyramid::kFanOut);
        node.sum.vote(below.sum.dominant, below.sum.weight);
        if (below.sum.longest_duration > node.sum.longest_duration) node.longest = below.longest;
        node.sum.longest_duration = std::max(node.sum.longest_duration, below.sum.longest_duration);
      }
      return node;
    };
    const Node node = node_of(node_of, number, span / kPart);
    add_node(node.sum.dominant, node.sum.weight, node.sum.longest_duration, node.longest);
    into.count += span;
    first += span;
  }
  if (!of_longest) return true;
  if (heads[*of_longest].is_fully_known()) {
    into.longest = offset + static_cast<EventIndex>(*of_longest) * kPart + heads[*of_longest].longest_at;
    return true;
  }
  const Part* const with_longest = part(segment, *of_longest);
  if (with_longest == nullptr) return false;
  const auto durations = std::span(with_longest->events.durations).first(with_longest->events.size);
  const auto found = std::find(durations.begin(), durations.end(), into.longest_duration);
  if (found == durations.end()) {
    read_whole(segment);
    return false;
  }
  into.longest = offset + static_cast<EventIndex>(*of_longest) * kPart + static_cast<EventIndex>(found - durations.begin());
  return true;
}

LaneTimes::LaneTimes(const Lane& lane) : lane_(&lane), demanded_(demanded_segments(lane)) {}

void LaneTimes::open(std::size_t segment) {
  if (segment_ == segment) return;
  count_ = 0;
  whole_.reset();
  in_parts_.reset();
  segment_ = segment;
  try {
    if (demanded_ != nullptr) in_parts_ = demanded_->times_in_parts(segment);
    if (in_parts_ && !times_) times_ = std::make_unique_for_overwrite<SegmentParts::Times>();
  } catch (const std::bad_alloc&) {  // the cache makes room for the times of all events
    in_parts_.reset();
  }
  if (!in_parts_) read_whole();
}

void LaneTimes::read_whole() {
  in_parts_.reset();
  whole_.emplace(lane_->times(*segment_));
}

void LaneTimes::load(EventIndex i) {
  open(i / LaneSegment::kCapacity);
  if (in_parts_ && !in_parts_->decode(i % LaneSegment::kCapacity / kPart, *times_)) read_whole();
  const EventIndex at_once = in_parts_ ? kPart : LaneSegment::kCapacity;
  first_ = i / at_once * at_once;
  count_ = in_parts_ ? times_->size : whole_->size();
}

Nanoseconds LaneTimes::end(EventIndex i) {
  if (i + 1 == lane_->size() || (i + 1) % LaneSegment::kCapacity == 0) return lane_->segment_end(i / LaneSegment::kCapacity);
  open(i / LaneSegment::kCapacity);
  if (in_parts_ && (i + 1) % kPart == 0)
    if (const SegmentHead::Part& head = in_parts_->heads()[i % LaneSegment::kCapacity / kPart]; head.is_fully_known()) return head.end;
  return start(i) + duration(i);
}

std::optional<LaneTimes::Part> LaneTimes::known_part(EventIndex i) {
  open(i / LaneSegment::kCapacity);
  if (!in_parts_) return std::nullopt;
  const std::span<const SegmentHead::Part> heads = in_parts_->heads();
  const std::size_t number = i % LaneSegment::kCapacity / kPart;
  const EventIndex end = number + 1 < heads.size() ? i + kPart : std::min(lane_->size(), i - i % LaneSegment::kCapacity + LaneSegment::kCapacity);
  return Part{heads[number].start, heads[number].end, heads[number].busy, end};
}

EventIndex LaneTimes::lower_bound(Nanoseconds t) {
  const std::size_t s = lane_->segment_at(t);
  if (s == lane_->segment_count()) return lane_->size();
  const auto first = static_cast<EventIndex>(s * LaneSegment::kCapacity);
  if (t <= lane_->segment_start(s)) return first;
  open(s);
  if (!in_parts_) return first + whole_->lower_bound(t);
  const std::span<const SegmentHead::Part> heads = in_parts_->heads();
  const auto behind = std::partition_point(heads.begin(), heads.end(), [t](const SegmentHead::Part& head) { return head.start < t; });
  if (behind == heads.begin()) return first;
  const auto number = static_cast<EventIndex>(behind - heads.begin() - 1);
  if (heads[number].is_fully_known() && heads[number].end < t && behind != heads.end()) return first + (number + 1) * kPart;
  at(first + number * kPart);
  if (!in_parts_) return first + whole_->lower_bound(t);  // the part can't be decoded
  const auto starts = std::span(times_->starts).first(count_);
  return first_ + static_cast<EventIndex>(std::lower_bound(starts.begin(), starts.end(), t) - starts.begin());
}

}  // namespace lanescope
