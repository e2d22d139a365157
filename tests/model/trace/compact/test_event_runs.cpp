#include <filesystem>
#include <random>

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

}  // namespace

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
    std::stable_sort(taken[track].begin(), taken[track].end(),
                     [](const Event& a, const Event& b) { return a.start != b.start ? a.start < b.start : a.duration > b.duration; });
    CHECK((events_of(runs, track) == taken[track]));
    CHECK(events_of(runs, track).empty());
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a folder where nothing can be written is told") {
  EventRuns runs(1, "/proc");
  const std::vector<Event> events(10'000);
  runs.take(0, events, {});
  REQUIRE_FALSE(runs.condition());
  CHECK(runs.condition().error().text.find("/proc") != std::string::npos);
}

TEST_CASE("events in order go to the lanes that a trace would give them") {
  std::mt19937 random(GENERATE(1u, 2u, 3u));
  std::vector<Event> events;
  for (int i = 0; i < 3'000; ++i)
    events.push_back({static_cast<Nanoseconds>(random() % 2'000), static_cast<Nanoseconds>(random() % 40), static_cast<NameId>(i), 0, 0});
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.start != b.start ? a.start < b.start : a.duration > b.duration; });
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
