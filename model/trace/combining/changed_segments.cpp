#include "changed_segments.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace lanescope {
namespace {

// Only the times.
std::shared_ptr<const LaneSegment> changed_times(const LaneSegment& from, const ClockLine& clock) {
  std::vector<Nanoseconds> starts, durations;
  for (EventIndex i = 0; i < from.size(); ++i) {
    starts.push_back(clock(from.start(i)));
    durations.push_back(clock(from.start(i) + from.duration(i)) - starts.back());
  }
  return LaneSegment::of_times(starts, durations);
}

Lane changed_outline(const Lane& outline, const LaneChange& change) {
  std::vector<std::shared_ptr<const LaneSegment>> segments;
  for (std::size_t s = 0; s < outline.segment_count(); ++s) segments.push_back(changed(*outline.segment(s), change));
  return Lane(std::move(segments));
}

// Parts of a segment of another trace, whose clock is only shifted.
class ShiftedParts final : public SegmentParts {
 public:
  ShiftedParts(std::unique_ptr<SegmentParts> from, LaneChange change)
      : from_(std::move(from)), change_(std::move(change)), heads_(from_->heads().begin(), from_->heads().end()) {
    for (SegmentHead::Part& head : heads_) {
      head.start = change_.clock(head.start);
      head.end = change_.clock(head.end);
      head.dominant = (*change_.names)[head.dominant];
      head.longest_name = (*change_.names)[head.longest_name];
    }
  }

  [[nodiscard]] std::span<const SegmentHead::Part> heads() const noexcept override { return heads_; }
  [[nodiscard]] bool decode(std::size_t part, Events& into) const override {
    if (!from_->decode(part, into)) return false;
    shift(into);
    for (NameId& name : std::span(into.names).first(into.size)) name = (*change_.names)[name];
    return true;
  }
  [[nodiscard]] bool decode(std::size_t part, Times& into) const override {
    if (!from_->decode(part, into)) return false;
    shift(into);
    return true;
  }
  [[nodiscard]] std::optional<DetailId> detail(EventIndex event) override {
    const std::optional<DetailId> detail = from_->detail(event);
    return detail && *detail != 0 ? *detail + change_.detail_offset : detail;
  }

 private:
  void shift(Times& times) const {
    for (Nanoseconds& start : std::span(times.starts).first(times.size)) start = change_.clock(start);
  }

  std::unique_ptr<SegmentParts> from_;
  LaneChange change_;
  std::vector<SegmentHead::Part> heads_;
};

}  // namespace

std::shared_ptr<const LaneSegment> changed(const LaneSegment& from, const LaneChange& change) {
  thread_local EventColumns events;  // its memory is used again for the next segment
  events.starts.resize(from.size());
  events.durations.resize(from.size());
  events.names.resize(from.size());
  events.correlations.resize(from.size());
  events.details.resize(from.size());
  for (EventIndex i = 0; i < from.size(); ++i) {
    const DetailId detail = from.detail(i);
    events.starts[i] = change.clock(from.start(i));
    events.durations[i] = change.clock(from.start(i) + from.duration(i)) - events.starts[i];
    events.names[i] = (*change.names)[from.name(i)];
    events.correlations[i] = from.correlation(i);
    events.details[i] = detail == 0 ? 0 : detail + change.detail_offset;
  }
  return std::make_shared<const LaneSegment>(events);
}

SegmentBounds shifted(SegmentBounds bounds, const LaneChange& change) {
  bounds.first_start = change.clock(bounds.first_start);
  bounds.last_start = change.clock(bounds.last_start);
  bounds.end = change.clock(bounds.end);
  for (NameTime& each : bounds.names) each.name = (*change.names)[each.name];
  return bounds;
}

SegmentBounds measured(const LaneSegment& segment, const SegmentBounds& before) {
  const EventIndex last = segment.size() - 1;
  SegmentBounds bounds{
      segment.size(), segment.start(0), segment.start(last), segment.start(last) + segment.duration(last), segment.busy_total(), before.correlations, {}, 0};
  for (EventIndex i = 0; i < segment.size(); ++i) bounds.longest = std::max(bounds.longest, segment.duration(i));
  if (before.names.empty()) return bounds;
  std::unordered_map<NameId, std::size_t> known;
  for (EventIndex i = 0; i < segment.size(); ++i) {
    const Nanoseconds duration = segment.duration(i);
    const auto [at, is_new] = known.try_emplace(segment.name(i), bounds.names.size());
    if (is_new) bounds.names.push_back({segment.name(i), 0, 0, duration, duration});
    NameTime& name = bounds.names[at->second];
    ++name.count;
    name.total += duration;
    name.least = std::min(name.least, duration);
    name.greatest = std::max(name.greatest, duration);
  }
  return bounds;
}

ChangedSegments::ChangedSegments(std::shared_ptr<const Trace> trace, const DemandedSegments& from, LaneChange change, std::vector<SegmentBounds> bounds)
    : DemandedSegments(std::move(bounds), changed_outline(from.outline(), change), &from), trace_(std::move(trace)), from_(from), change_(std::move(change)) {}

std::shared_ptr<const LaneSegment> ChangedSegments::read(std::size_t s) const { return changed(*from_.read_apart(s), change_); }

std::shared_ptr<const LaneSegment> ChangedSegments::read_times(std::size_t s) const {
  const std::shared_ptr<const LaneSegment> times = from_.read_times_apart(s);
  return times ? changed_times(*times, change_.clock) : nullptr;
}

// What heads say holds where nothing lasts longer or shorter.
std::unique_ptr<SegmentParts> ChangedSegments::read_parts(std::size_t s) const {
  auto parts = change_.clock.is_shift() ? from_.read_parts_apart(s) : nullptr;
  return parts ? std::make_unique<ShiftedParts>(std::move(parts), change_) : nullptr;
}

}  // namespace lanescope
