#include <atomic>
#include <limits>
#include <map>
#include <random>

#include "support/catch.h"
#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/lanes/lane_subset.h"
#include "timeline/core/lanes/segment_sums.h"
#include "timeline/core/parallel.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::random_events;
using lanescope::test::SmallTrace;

namespace {

void by_name(const Lane& lane, EventIndex first, std::span<LaneSplit::Key> into) {
  for (LaneSplit::Key& key : into) key = lane.name(first++);
}

// The lane made of copies of the events with this name.
Lane copied(const Lane& lane, NameId name) {
  std::vector<std::shared_ptr<const LaneSegment>> segments;
  std::vector<Event> events;
  const auto close = [&] {
    if (!events.empty()) segments.push_back(std::make_shared<LaneSegment>(std::exchange(events, {})));
  };
  for (EventIndex i = 0; i < lane.size(); ++i) {
    if (lane.name(i) != name) continue;
    events.push_back(lane.event(i));
    if (events.size() == LaneSegment::kCapacity) close();
  }
  close();
  return Lane(std::move(segments));
}

void require_same(const LaneSubset& subset, const Lane& oracle, std::mt19937& random) {
  REQUIRE(subset.size() == oracle.size());
  for (int round = 0; round < 300; ++round) {
    const EventIndex i = random() % oracle.size();
    REQUIRE(subset.start(i) == oracle.start(i));
    REQUIRE(subset.end(i) == oracle.end(i));
    const Nanoseconds begin = oracle.start(i) - 3 + static_cast<Nanoseconds>(random() % 7);
    const TimeRange window{begin, begin + static_cast<Nanoseconds>(random() % 1'000'000)};
    REQUIRE(subset.lower_bound(begin) == oracle.lower_bound(begin));
    REQUIRE(subset.busy(window) == oracle.busy(window));
    REQUIRE(subset.overlapping(window) == oracle.overlapping(window));
    const auto [first, last] = oracle.overlapping(window);
    REQUIRE(subset.summarize(first, last).longest_duration == oracle.summarize(first, last).longest_duration);
    REQUIRE(subset.summarize(first, last).count == last - first);
  }
}

}  // namespace

TEST_CASE("the events of one name answer as a lane of copies of them would") {
  std::mt19937 random(GENERATE(1u, 2u));
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), random_events(small, random, 80'000, 90'000'000));
  const auto trace = small.builder.snapshot();
  const Lane& lane = trace->lane(0);
  const LaneSplit split(std::shared_ptr<const Lane>(trace, &lane), by_name);
  for (int kernel = 0; kernel < 4; ++kernel) {
    const NameId name = trace->find_name("kernel " + std::to_string(kernel)).value();
    const LaneSubset& subset = split.subset(name);
    require_same(subset, copied(lane, name), random);
    std::vector<EventIndex> edges, ranks;
    for (EventIndex edge = 0; edge <= lane.size(); edge += 271) edges.push_back(edge);
    ranks.resize(edges.size());
    subset.ranks(edges, ranks);
    for (std::size_t k = 0; k < edges.size(); ++k) REQUIRE(ranks[k] == subset.rank(edges[k]));
  }
  REQUIRE(split.subset(trace->name_count() + 5).empty());
  REQUIRE(split.memory_bytes() < 8 * lane.size());
}

TEST_CASE("until for ever, all is busy that a subset has, however long before time 0") {
  // As for one of several recordings that started before the first one that is named.
  SmallTrace small;
  const NameId name = small.builder.intern("work");
  small.builder.add(small.on_gpu(TrackKind::kKernels), {Event{-9'000'000'000'000, 40, name, 0, 0}, Event{-8'000'000'000'000, 2, name, 0, 0}});
  const auto trace = small.builder.snapshot();
  const LaneSplit split(std::shared_ptr<const Lane>(trace, &trace->lane(0)), by_name);
  CHECK(split.subset(name).busy({std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()}) == 42);
}

TEST_CASE("a lane that grew is taken apart as if anew") {
  std::mt19937 random(GENERATE(range(1u, 6u)));
  SmallTrace small;
  const auto events = random_events(small, random, 60'000, 90'000'000);
  std::shared_ptr<const Trace> trace;
  LaneSplit split;
  std::size_t from = 0;
  for (const std::size_t until : {std::size_t{100}, std::size_t{4'000}, std::size_t{30'000}, std::size_t{30'001}, events.size() - 50}) {
    small.builder.add(small.on_gpu(TrackKind::kKernels),
                      {events.begin() + static_cast<std::ptrdiff_t>(from), events.begin() + static_cast<std::ptrdiff_t>(until)});
    from = until + (until == 30'000 ? 0 : 3);  // three are still missing
    trace = small.builder.snapshot();
    split = LaneSplit(std::shared_ptr<const Lane>(trace, &trace->lane(0)), by_name, &split);
  }
  // The missing events arrive late, before others in time.
  small.builder.add(small.on_gpu(TrackKind::kKernels), {events.begin() + 4'000, events.begin() + 4'003});
  trace = small.builder.snapshot();
  split = LaneSplit(std::shared_ptr<const Lane>(trace, &trace->lane(0)), by_name, &split);
  for (int kernel = 0; kernel < 4; ++kernel) {
    const NameId name = trace->find_name("kernel " + std::to_string(kernel)).value();
    require_same(split.subset(name), copied(trace->lane(0), name), random);
  }
}

TEST_CASE("sums by name are those of the events, and stay right as a lane grows") {
  std::mt19937 random(7);
  SmallTrace small;
  SegmentSums sums;
  const auto events = random_events(small, random, 150'000, 900'000'000);
  std::map<NameId, Nanoseconds> expected;
  for (std::size_t part = 0; part < 3; ++part) {
    const auto first = events.begin() + static_cast<std::ptrdiff_t>(part) * 50'000;
    small.builder.add(small.on_gpu(TrackKind::kKernels), std::vector<Event>(first, first + 50'000));
    for (auto event = first; event != first + 50'000; ++event) expected[event->name] += event->duration;
    const auto trace = small.builder.snapshot();
    std::map<NameId, Nanoseconds> found;
    for (const SegmentSums::Sum& sum : sums.of_lane(*trace, 0, SegmentSums::By::kName)) found[sum.key] = sum.total;
    sums.forget_unused();
    REQUIRE(found == expected);
  }
}

TEST_CASE("lanes of a single event add up and are taken apart by their name, whatever its number") {
  constexpr int kLanes = 3'000;
  SmallTrace small;
  for (int i = 0; i < kLanes; ++i) {
    TrackKey key = small.on_gpu(TrackKind::kKernels);
    key.stream = static_cast<std::uint32_t>(i);
    Event event;
    event.start = i;
    event.duration = i + 1;
    event.name = small.builder.intern("kernel " + std::to_string(i));
    small.builder.add(key, std::vector<Event>{event});
  }
  const auto trace = small.builder.snapshot();
  SegmentSums sums;
  for (LaneId lane = 0; lane < kLanes; ++lane) {
    const std::vector<SegmentSums::Sum> found = sums.of_lane(*trace, lane, SegmentSums::By::kName);
    REQUIRE(found.size() == 1);
    REQUIRE(found.front().key == trace->lane(lane).name(0));
    REQUIRE(found.front().total == trace->lane(lane).duration(0));
    const LaneSplit split(std::shared_ptr<const Lane>(trace, &trace->lane(lane)), by_name);
    REQUIRE(split.subset(found.front().key).size() == 1);
    REQUIRE(split.subset(found.front().key + 1).size() == 0);
  }
}

TEST_CASE("every part of parallel work is done once, also from within another") {
  std::vector<std::atomic<int>> done(1'000);
  work_in_parts(10, [&](std::size_t outer) { work_in_parts(100, [&](std::size_t inner) { ++done[outer * 100 + inner]; }); });
  for (const auto& times : done) REQUIRE(times == 1);
}

TEST_CASE("walking through matches visits each once, by start, over all lanes, also after the recording grew") {
  std::mt19937 random(9);
  SmallTrace small;
  EventMatches matches(small.builder.snapshot(), "KERNEL 2");
  std::shared_ptr<const Trace> trace;
  for (std::uint32_t stream = 1; stream <= 3; ++stream) {
    small.builder.add(small.on_gpu(TrackKind::kKernels, stream), random_events(small, random, 400, 20'000));
    trace = small.builder.snapshot();
    matches.grow(trace);
    (void)matches.count();
  }
  std::vector<std::tuple<Nanoseconds, LaneId, EventIndex>> expected;
  for (LaneId lane = 0; lane < trace->lanes().size(); ++lane)
    for (EventIndex i = 0; i < trace->lane(lane).size(); ++i)
      if (trace->name(trace->lane(lane).name(i)) == "kernel 2") expected.emplace_back(trace->lane(lane).start(i), lane, i);
  std::sort(expected.begin(), expected.end());
  REQUIRE(matches.count() == expected.size());
  EventRef at;
  for (const auto& [start, lane, index] : expected) {
    at = matches.find(at, 0, EventMatches::Direction::kNext).value();
    REQUIRE(at == EventRef{lane, index});
  }
  REQUIRE(matches.find(at, 0, EventMatches::Direction::kNext) == EventRef{std::get<1>(expected.front()), std::get<2>(expected.front())});
  for (auto event = expected.rbegin() + 1; event != expected.rend(); ++event) {
    at = matches.find(at, 0, EventMatches::Direction::kPrevious).value();
    REQUIRE(at == EventRef{std::get<1>(*event), std::get<2>(*event)});
  }
}
