#include <filesystem>
#include <map>
#include <random>
#include <utility>

#include "building/lane_builder.h"
#include "compact/event_runs.h"
#include "compact/lane_order.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using lanescope::test::TemporaryFolder;

namespace {

std::vector<Event> events_of(EventRuns& runs, TrackId track) {
  std::vector<Event> events;
  REQUIRE(runs.drain(track, [&](EventRuns::Rows rows) {
    for (const EventRuns::Row& row : rows) events.push_back(row.event());
    return Result<void>();
  }));
  return events;
}

bool comes_first(const Event& a, const Event& b) { return a.start != b.start ? a.start < b.start : a.duration > b.duration; }

// Keeps the events that it takes, by track and depth.
class Taker final : public EventRuns::EarlyTaker {
 public:
  Result<void> take_early(TrackId track, EventRuns::Rows rows) override {
    for (const EventRuns::Row& row : rows) taken[track][row.depth].push_back(row.event());
    return {};
  }
  Result<void> give_back(TrackId track, const std::function<Result<void>(EventRuns::Rows)>& use) override {
    for (const auto& [depth, events] : std::exchange(taken[track], {})) {
      std::vector<EventRuns::Row> rows;
      for (const Event& event : events) rows.push_back({event.start, event.duration, event.name, event.correlation, event.detail, depth});
      if (auto used = use(rows); !used) return used;
      if (auto used = use({}); !used) return used;
    }
    return {};
  }
  [[nodiscard]] std::uint64_t held_bytes() const override { return 0; }

  std::map<TrackId, std::map<std::uint32_t, std::vector<Event>>> taken;
};

}  // namespace

TEST_CASE("events that come nearly in order are handed on while others come, and go to no disk") {
  constexpr TrackId kTracks = 200;
  constexpr int kBatches = 40, kRows = 500;
  const TemporaryFolder folder;
  EventRuns runs(std::uint64_t{4} << 20, folder.path());  // of 128 MB of events
  Taker taker;
  runs.hand_on_to(&taker);
  std::mt19937 random(5);
  std::vector<std::vector<Event>> given(kTracks);
  for (int batch = 0; batch < kBatches; ++batch)
    for (TrackId track = 0; track < kTracks; ++track) {
      std::vector<Event> events;
      for (int i = 0; i < kRows; ++i) {
        const Nanoseconds late = static_cast<Nanoseconds>(random() % 20);  // a call within another one comes before it
        events.push_back({(Nanoseconds{batch} * kRows + i - late) * 10, 5, static_cast<NameId>(random()), 0, 0});
      }
      runs.take(track, events, {});
      given[track].insert(given[track].end(), events.begin(), events.end());
    }
  REQUIRE(runs.settle());
  CHECK(runs.written() == 0);
  CHECK(runs.size() == std::uint64_t{kTracks} * kBatches * kRows);
  for (TrackId track = 0; track < kTracks; ++track) {
    std::stable_sort(given[track].begin(), given[track].end(), comes_first);
    std::vector<Event> all = taker.taken[track][EventRuns::kNoDepth];
    CHECK(all.size() > given[track].size() / 2);
    for (const Event& event : events_of(runs, track)) all.push_back(event);
    CHECK((all == given[track]));
  }
}

TEST_CASE("ranges within others are handed on as they end, unless two of a depth overlap") {
  const TemporaryFolder folder;
  EventRuns runs(std::uint64_t{1} << 20, folder.path());
  Taker taker;
  runs.hand_on_to(&taker);
  // The inner ranges of each outer range come first; the outer one comes when it ends.
  const auto take_step = [&](Nanoseconds step, Nanoseconds outer_duration) {
    const Nanoseconds begin = step * 1'000;
    const std::vector<Event> events{{begin, 400, 1, 0, 0}, {begin + 400, 500, 2, 0, 0}, {begin, outer_duration, 3, 0, 0}};
    runs.take(7, events, std::vector<std::uint32_t>{1, 1, 0});
  };
  constexpr Nanoseconds kSteps = 20'000;
  for (Nanoseconds step = 0; step < kSteps; ++step) take_step(step, 1'000);
  SECTION("none does") {
    REQUIRE(runs.settle());
    CHECK(runs.written() == 0);
    CHECK(taker.taken[7][0].size() == kSteps);
    CHECK(taker.taken[7][1].size() == 2 * kSteps);
    CHECK(events_of(runs, 7).empty());
  }
  SECTION("two do") {
    take_step(kSteps, 1'001);
    take_step(kSteps + 1, 1'000);
    REQUIRE(runs.settle());
    CHECK(taker.taken[7].empty());
    const std::vector<Event> all = events_of(runs, 7);
    CHECK(all.size() == 3 * (kSteps + 2));
    CHECK(std::is_sorted(all.begin(), all.end(), comes_first));
    CHECK(all.front().name == 3);  // the longer of two that start together
  }
}

TEST_CASE("events come out sorted, of equal ones those that were taken first, however little memory there is") {
  const TemporaryFolder folder;
  const std::uint64_t memory = GENERATE(std::uint64_t{1}, std::uint64_t{2} << 20, std::uint64_t{1} << 30);
  EventRuns runs(memory, folder.path());
  std::mt19937 random(3);
  std::vector<std::vector<Event>> taken(3);
  for (int batch = 0; batch < 40; ++batch) {
    const TrackId track = random() % 3;
    std::vector<Event> events;
    for (std::size_t i = 0; i < random() % 3'000; ++i) {
      Event event{static_cast<Nanoseconds>(random() % 500) - 100, static_cast<Nanoseconds>(random() % 4), static_cast<NameId>(random()),
                  static_cast<std::uint32_t>(taken[track].size() + i), static_cast<DetailId>(random())};
      if (random() % 100 == 0) event.start -= Nanoseconds{1} << 60;
      events.push_back(event);
    }
    runs.take(track, events, {});
    taken[track].insert(taken[track].end(), events.begin(), events.end());
  }
  REQUIRE(runs.condition());
  for (TrackId track = 0; track < 3; ++track) {
    std::stable_sort(taken[track].begin(), taken[track].end(), comes_first);
    CHECK((events_of(runs, track) == taken[track]));
    CHECK(events_of(runs, track).empty());
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a folder where nothing can be written is told") {
  EventRuns runs(1, "/proc");
  const std::vector<Event> events(10'000);
  runs.take(0, events, {});
  CHECK(runs.has_failed());
  REQUIRE_FALSE(runs.condition());
  CHECK(runs.condition().error().text.find("/proc") != std::string::npos);
}

TEST_CASE("events in order go to the lanes that a trace would give them") {
  std::mt19937 random(GENERATE(1u, 2u, 3u));
  std::vector<Event> events;
  for (int i = 0; i < 3'000; ++i)
    events.push_back({static_cast<Nanoseconds>(random() % 2'000), static_cast<Nanoseconds>(random() % 40), static_cast<NameId>(i), 0, 0});
  std::stable_sort(events.begin(), events.end(), comes_first);
  TrackLanes lanes;
  lanes.add(events);
  LaneOrder order;
  std::vector<std::vector<Event>> placed;
  for (const Event& event : events) {
    const std::uint32_t lane = order.place(0, event.start, event.end());
    if (lane >= placed.size()) placed.resize(lane + std::size_t{1});
    placed[lane].push_back(event);
  }
  REQUIRE(placed.size() == lanes.lanes().size());
  REQUIRE(placed.size() > 20);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const Lane lane = lanes.lanes()[i].publish();
    REQUIRE(lane.size() == placed[i].size());
    for (EventIndex k = 0; k < lane.size(); ++k) REQUIRE(lane.event(k) == placed[i][k]);
  }
}
