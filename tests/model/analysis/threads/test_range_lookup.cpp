#include "threads/range_lookup.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "../../../model/analysis/threads/lane_cursor.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

constexpr std::size_t kSegments = 6;

// Six segments, each of which is made from its events whenever it is requested.
class CountedSegments : public DemandedSegments {
 public:
  explicit CountedSegments(const std::vector<Event>& events) : DemandedSegments(bounds_of(events), Lane()), events_(events) {}
  [[nodiscard]] bool was_read(std::size_t s) const { return was_read_[s]; }

 private:
  static std::span<const Event> of(const std::vector<Event>& events, std::size_t s) {
    return std::span(events).subspan(s * LaneSegment::kCapacity, LaneSegment::kCapacity);
  }
  static std::vector<SegmentBounds> bounds_of(const std::vector<Event>& events) {
    std::vector<SegmentBounds> bounds;
    for (std::size_t s = 0; s < kSegments; ++s) {
      const auto segment = of(events, s);
      Nanoseconds busy = 0;
      for (const Event& event : segment) busy += event.duration;
      bounds.push_back({LaneSegment::kCapacity, segment.front().start, segment.back().start, segment.back().end(), busy, {}, {}, busy});
    }
    return bounds;
  }
  std::shared_ptr<const LaneSegment> read(std::size_t s) const override {
    was_read_[s] = true;
    return std::make_shared<const LaneSegment>(of(events_, s));
  }

  const std::vector<Event>& events_;
  mutable std::array<bool, kSegments> was_read_{};
};

std::vector<Event> events_of_six_segments() {
  std::mt19937 random(1);
  const auto below = [&](Nanoseconds end) { return std::uniform_int_distribution<Nanoseconds>(0, end - 1)(random); };
  std::vector<Event> events;
  for (Nanoseconds t = 0; events.size() < kSegments * LaneSegment::kCapacity; t = events.back().end() + below(4)) events.push_back({t, below(5), 1, 0, 0});
  return events;
}

}  // namespace

TEST_CASE("a cursor finds the first event that ends later, whichever way times go") {
  const std::vector<Event> events = events_of_six_segments();
  const Lane lane(std::make_shared<const CountedSegments>(events));
  std::mt19937 random(2);
  const auto below = [&](Nanoseconds end) { return std::uniform_int_distribution<Nanoseconds>(0, end - 1)(random); };
  LaneCursor cursor(lane);
  Nanoseconds t = 0;
  for (int i = 0; i < 20'000; ++i) {
    t = below(50) == 0 ? below(events.back().end() + 10) : t + below(12);
    const auto found = std::partition_point(events.begin(), events.end(), [&](const Event& event) { return event.end() <= t; });
    REQUIRE(cursor.seek(t) == static_cast<EventIndex>(found - events.begin()));
    REQUIRE(cursor.at(t).has_value() == (found != events.end() && found->start <= t));
    if (found != events.end()) REQUIRE(cursor.time() == TimeRange{found->start, found->end()});
  }
}

TEST_CASE("a cursor reads no segment that it only passes") {
  const std::vector<Event> events = events_of_six_segments();
  const auto segments = std::make_shared<const CountedSegments>(events);
  const Lane lane(segments);
  LaneCursor cursor(lane);
  for (const std::size_t segment : {0, 3, 5}) {  // no two consecutive segments, because the next one would be read ahead
    const std::size_t index = segment * LaneSegment::kCapacity + 9;
    CHECK(cursor.seek(events[index].end()) > index);
  }
  for (std::size_t s = 0; s < kSegments; ++s) {
    INFO(s);
    CHECK(segments->was_read(s) == (s == 0 || s == 3 || s == 5));
  }
}

TEST_CASE("of ranges that nest without end, the outermost of all domains are looked at") {
  constexpr std::uint32_t kDepths = 100;
  constexpr Nanoseconds kLength = 1'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 1);
  for (const std::uint32_t domain : {1u, 2u}) {
    TrackKey key{TrackKind::kNvtxRanges, process};
    key.thread = thread;
    key.domain = domain;
    std::vector<Event> ranges;
    std::vector<std::uint32_t> depths;
    const std::uint32_t count = domain == 1 ? kDepths : 3;  // those of the second domain start within those of the first
    for (std::uint32_t depth = 0; depth < count; ++depth) {
      const Nanoseconds start = (domain - 1) * kDepths + depth;
      ranges.push_back({start, 2 * (kLength - start), builder.intern("range " + std::to_string(depth)), 0, 0});
      depths.push_back(depth);
    }
    builder.add(key, std::move(ranges), depths);
  }
  const auto trace = builder.snapshot();
  const auto looked_at = [&](RangeLookup& lookup) {
    std::vector<std::size_t> of_domain(3);
    lookup.for_each(thread, kLength, [&](EventRef range) { ++of_domain[trace->track_of(range.lane).key.domain]; });
    return of_domain;
  };
  RangeLookup all(*trace);  // few events: there is time to look at all
  CHECK(looked_at(all) == std::vector<std::size_t>{0, kDepths, 3});
  RangeLookup few(*trace, 0);
  CHECK(looked_at(few) == std::vector<std::size_t>{0, RangeLookup::kLeastLanes - 3, 3});
  const EventRef innermost = few.innermost(thread, kLength);
  REQUIRE(innermost.valid());
  CHECK(trace->lane(innermost.lane).start(innermost.index) == kDepths + 2);
}
