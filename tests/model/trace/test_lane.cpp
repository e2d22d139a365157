#include "model/trace/lane.h"

#include <limits>
#include <map>
#include <random>

#include "model/trace/storage/interval_union.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

// Random events that touch, leave gaps or have no duration.
std::vector<Event> random_events(unsigned seed, int count, int longest) {
  std::mt19937 random(seed);
  std::vector<Event> events;
  Nanoseconds time = static_cast<Nanoseconds>(random() % 50);
  for (int i = 0; i < count; ++i) {
    Event event;
    event.start = time;
    event.duration = static_cast<Nanoseconds>(random() % static_cast<unsigned>(longest));
    event.name = 1 + random() % 5;
    event.correlation = 10 + static_cast<std::uint32_t>(i) / 2;
    event.detail = random() % 3;
    events.push_back(event);
    time = event.end() + static_cast<Nanoseconds>(random() % 4 ? random() % 20 : 0);
  }
  return events;
}

Lane lane_of(const std::vector<Event>& events) {
  std::vector<std::shared_ptr<const LaneSegment>> segments;
  for (std::size_t at = 0; at < events.size(); at += LaneSegment::kCapacity)
    segments.push_back(std::make_shared<const LaneSegment>(std::span(events).subspan(at, std::min<std::size_t>(LaneSegment::kCapacity, events.size() - at))));
  return Lane(std::move(segments));
}

Nanoseconds covered_one_by_one(const std::vector<Event>& events, TimeRange window) {
  Nanoseconds covered = 0;
  for (Nanoseconds t = window.begin; t < window.end; ++t)
    for (const Event& event : events) covered += event.start <= t && t < event.end() ? 1 : 0;
  return covered;
}

}  // namespace

TEST_CASE("a lane gives back its events") {
  const auto events = random_events(1, 1'000, 40);
  const Lane lane = lane_of(events);
  REQUIRE(lane.size() == events.size());
  for (EventIndex i = 0; i < lane.size(); ++i) REQUIRE(lane.event(i) == events[i]);
  CHECK(lane.extent() == TimeRange{events.front().start, events.back().end()});
}

TEST_CASE("busy time of any window equals the sum over its nanoseconds") {
  const auto seed = GENERATE(range(1u, 12u));
  const auto events = random_events(seed, 60, 30);
  const Lane lane = lane_of(events);
  const Nanoseconds span = events.back().end() + 20;
  for (Nanoseconds begin = 0; begin < span; begin += 37)
    for (Nanoseconds end = begin; end < span; end += 41) REQUIRE(lane.busy({begin, end}) == covered_one_by_one(events, {begin, end}));
}

TEST_CASE("what runs at a time is the event that covers it") {
  const auto events = random_events(3, 200, 30);
  const Lane lane = lane_of(events);
  for (Nanoseconds t = 0; t < events.back().end() + 5; ++t) {
    std::optional<EventIndex> expected;
    for (EventIndex i = 0; i < events.size(); ++i)
      if (events[i].start <= t && t < events[i].end()) expected = i;
    REQUIRE(lane.at(t) == expected);
  }
}

TEST_CASE("overlapping gives the events that a window touches") {
  const auto events = random_events(4, 100, 30);
  const Lane lane = lane_of(events);
  for (Nanoseconds begin = 0; begin < events.back().end(); begin += 13) {
    const TimeRange window{begin, begin + 29};
    const auto [first, last] = lane.overlapping(window);
    for (EventIndex i = 0; i < events.size(); ++i) {
      const bool touches = (events[i].start < window.end && events[i].end() > window.begin);
      if (touches) REQUIRE((first <= i && i < last));
      if (events[i].end() < window.begin || events[i].start >= window.end) REQUIRE_FALSE((first <= i && i < last));
    }
  }
}

TEST_CASE("the summary of any run of events has its count, its longest event and its majority name") {
  const auto events = random_events(5, 700, 1'000);
  const Lane lane = lane_of(events);
  std::mt19937 random(5);
  for (int round = 0; round < 3'000; ++round) {
    EventIndex first = random() % 700, last = random() % 701;
    if (first > last) std::swap(first, last);
    const LaneSummary summary = lane.summarize(first, last);
    Nanoseconds total = 0, longest = -1;
    std::map<NameId, Nanoseconds> by_name;
    for (EventIndex i = first; i < last; ++i) {
      total += events[i].duration;
      longest = std::max(longest, events[i].duration);
      by_name[events[i].name] += events[i].duration;
    }
    REQUIRE(summary.count == last - first);
    REQUIRE(summary.longest_duration == longest);
    if (last > first) REQUIRE(events[summary.longest].duration == longest);
    for (const auto& [name, time] : by_name)
      if (2 * time > total) REQUIRE(summary.dominant == name);
    REQUIRE(summary.weight <= total);
  }
}

TEST_CASE("lanes longer than a segment answer as short ones do") {
  const auto events = random_events(6, 150'000, 12);
  const Lane lane = lane_of(events);
  REQUIRE(lane.segment_count() == 3);
  Nanoseconds busy = 0;
  for (const Event& event : events) busy += event.duration;
  CHECK(lane.busy({0, events.back().end()}) == busy);
  CHECK(lane.summarize(0, lane.size()).count == lane.size());
  for (EventIndex i = 0; i < lane.size(); i += 997) {
    REQUIRE(lane.lower_bound(events[i].start) <= i);
    REQUIRE(lane.start(lane.lower_bound(events[i].start)) == events[i].start);
    const EventIndex found = lane.find_correlation(events[i].correlation);
    REQUIRE(lane.correlation(found) == events[i].correlation);
    REQUIRE(found == i - i % 2);
  }
  CHECK(lane.find_correlation(5) == lane.size());
  CHECK(lane.memory_bytes() / lane.size() <= 28);
}

TEST_CASE("many times are found at once as they are one by one") {
  const auto events = random_events(7, 150'000, 12);
  const Lane lane = lane_of(events);
  const Nanoseconds step = GENERATE(1, 37, 5'003, 900'000);
  for (const Nanoseconds begin : {Nanoseconds{-1'000}, events[70'000].start}) {
    std::vector<Nanoseconds> times;
    for (Nanoseconds k = 0; k < 501; ++k) times.push_back(begin + k * step);
    std::vector<EventIndex> found(times.size());
    lane.lower_bounds(times, found);
    for (std::size_t k = 0; k < times.size(); ++k) REQUIRE(found[k] == lane.lower_bound(times[k]));
  }
  std::vector<EventIndex> none(2, 7);
  Lane().lower_bounds(std::vector<Nanoseconds>{1, 2}, none);
  REQUIRE(none == std::vector<EventIndex>{0, 0});
}

TEST_CASE("two states of a lane share the events in front of the first that differs") {
  auto events = random_events(8, 150'000, 12);
  const Lane lane = lane_of(events);
  const auto at = GENERATE(values<std::size_t>({0, 5, 65'535, 65'536, 100'000, 149'999}));
  REQUIRE(lane.common_prefix(lane) == 150'000);
  REQUIRE(lane.common_prefix(lane_of({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(at) + 1})) == at + 1);
  events[at].name += 1;
  REQUIRE(lane.common_prefix(lane_of(events)) == at);
  events[at].name -= 1;
  events[at].duration = 5'000'000'000;  // does not fit into 32 bits
  for (std::size_t i = at + 1; i < events.size(); ++i) events[i].start += 6'000'000'000;
  const Lane longer = lane_of(events);
  REQUIRE(lane.common_prefix(longer) == at);
  REQUIRE(longer.common_prefix(lane) == at);
}

TEST_CASE("correlation ids that do not ascend are found all the same") {
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 100; ++i) events.push_back({static_cast<Nanoseconds>(i) * 10, 5, 1, (i * 37) % 101, 0});
  const Lane lane = lane_of(events);
  for (EventIndex i = 0; i < 100; ++i) CHECK(lane.find_correlation(events[i].correlation) == i);
}

TEST_CASE("times that lie farther apart than Nanoseconds reach are found in their order") {
  constexpr Nanoseconds kFirst = std::numeric_limits<Nanoseconds>::min(), kLast = std::numeric_limits<Nanoseconds>::max();
  const Nanoseconds close[] = {-1'000, -600, -1};
  const AscendingTimes near(close);
  REQUIRE(near.near().size() == 3);
  CHECK(near.lower_bound(kLast, 0, 3) == 3);
  CHECK(near.lower_bound(-600, 0, 3) == 1);
  CHECK(near.lower_bound(kFirst, 0, 3) == 0);
  const Nanoseconds apart[] = {kFirst, 0, kLast};
  const AscendingTimes far(apart);
  for (std::size_t i = 0; i < 3; ++i) CHECK(far[i] == apart[i]);
}

TEST_CASE("until for ever, all is busy that is, however long before time 0") {
  // As for one of several recordings that started before the first one that is named.
  const Lane lane = lane_of({Event{-9'000'000'000'000, 40, 1, 0, 0}, Event{-8'000'000'000'000, 2, 1, 0, 0}});
  CHECK(lane.busy_before(std::numeric_limits<Nanoseconds>::max()) == 42);
  CHECK(lane.busy({std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()}) == 42);
  IntervalUnion::Writer writer;
  writer.add(-9'000'000'000'000, -8'999'999'999'960);
  const IntervalUnion busy = writer.take();
  CHECK(busy.covered({std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()}) == 40);
}

TEST_CASE("durations beyond four seconds keep every nanosecond") {
  const Lane lane = lane_of({{0, 5'000'000'001, 1, 0, 0}, {6'000'000'000, 7, 2, 0, 0}, {7'000'000'000, 4'294'967'295, 3, 0, 0}});
  CHECK(lane.duration(0) == 5'000'000'001);
  CHECK(lane.duration(1) == 7);
  CHECK(lane.duration(2) == 4'294'967'295);
  CHECK(lane.busy({0, 20'000'000'000}) == 5'000'000'001 + 7 + 4'294'967'295);
}

TEST_CASE("a packed column gives back what it was made of, however far its values are apart") {
  const auto seed = GENERATE(range(1u, 40u));
  std::mt19937 random(seed);
  const std::size_t count = seed % 5 == 0 ? 1 + seed % 3 : 1 + random() % 2'000;
  const std::uint32_t spread = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 200 : seed % 4 == 2 ? 60'000 : 0xffffffff;
  const bool ascends = seed % 3 == 0;
  std::vector<std::uint32_t> values(count);
  std::uint32_t last = random() % 1'000'000;
  for (std::uint32_t& value : values) {
    value = ascends ? last + random() % 16 : spread == 0xffffffff ? static_cast<std::uint32_t>(random()) : last + random() % spread;
    if (ascends) last = value;
  }
  const auto column_of = [](const std::vector<std::uint32_t>& of) { return PackedColumn(of.size(), [&](std::size_t i) { return of[i]; }); };
  const PackedColumn column = column_of(values);
  for (std::size_t i = 0; i < count; ++i) REQUIRE(column[i] == values[i]);
  CHECK(column.memory_bytes() <= 4 + 4 * count);
  if (ascends) CHECK(column.memory_bytes() <= 4 + count + (count + 15) / 16 * 4);

  auto others = values;
  const std::size_t at = random() % count;
  others[at] += 1;
  const PackedColumn other = column_of(others);
  CHECK(column.same(column_of(values), 0, count));
  CHECK(column.same(other, 0, at));
  CHECK(column.same(other, at + 1, count));
  CHECK_FALSE(column.same(other, 0, count));
}
