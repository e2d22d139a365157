#include "model/events/stored_order.h"

#include <algorithm>

#include "random_trace.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using lanescope::test::random_trace;
using lanescope::test::TemporaryFolder;

namespace {

std::vector<EventRef> all_of(const StoredOrder& order, std::size_t page) {
  std::vector<EventRef> events(order.size());
  for (std::size_t i = 0; i < events.size(); i += page) REQUIRE(order.read(i, std::span(events).subspan(i, std::min(page, events.size() - i))));
  return events;
}

}  // namespace

TEST_CASE("an order in a file is the order in memory, of any column, with memory for a few events") {
  const auto seed = GENERATE(range(1u, 4u));
  const TemporaryFolder folder;
  const auto trace = random_trace(seed);
  const EventValues values(trace, EventScope::whole_trace(*trace));
  std::vector<EventFilter> filters(2);
  filters[1].minimum_duration = 12;
  for (const EventFilter& filter : filters) {
    const std::vector<EventRef> listed = gather_by_start(*trace, values.scope().lanes(), filter);
    REQUIRE(listed.size() > 50);
    for (std::size_t column = 0; column < kEventColumnCount; ++column)
      for (const SortDirection direction : {SortDirection::kAscending, SortDirection::kDescending}) {
        const auto by = static_cast<EventColumn>(column);
        const std::vector<EventRef> expected = sort_events(values, listed, by, direction);
        for (const std::uint64_t memory : {std::uint64_t{1}, std::uint64_t{2'000}, std::uint64_t{1} << 20}) {
          std::vector<EventRef> first;
          std::vector<double> shares;
          const OrderListener listener{.first_count = 20,
                                       .first = [&](std::vector<EventRef> events) { first = std::move(events); },
                                       .progress = [&](double share) { shares.push_back(share); }};
          const auto order =
              StoredOrder::make(values, stream_by_start(*trace, values.scope().lanes(), filter), by, direction, {folder.path(), memory}, listener);
          REQUIRE(order);
          REQUIRE(order->has_value());
          REQUIRE(all_of(**order, 7) == expected);
          for (std::size_t i = 0; i < expected.size(); i += 5) {
            const auto found = (*order)->find(values, expected[i]);
            REQUIRE(found);
            REQUIRE(found->has_value());
            REQUIRE(**found == i);
          }
          if (&filter != &filters.front())
            for (const EventRef other : gather_by_start(*trace, values.scope().lanes(), {}))
              if (std::find(listed.begin(), listed.end(), other) == listed.end()) REQUIRE_FALSE((*order)->find(values, other)->has_value());
          REQUIRE(first == std::vector<EventRef>(expected.begin(), expected.begin() + 20));
          REQUIRE(std::is_sorted(shares.begin(), shares.end()));
          REQUIRE(shares.back() == 1);
        }
      }
  }
}

TEST_CASE("an order of no events is empty, one that is called off is none, and a folder that can't be written to is named") {
  const TemporaryFolder folder;
  const auto trace = random_trace(1);
  const EventValues values(trace, EventScope::whole_trace(*trace));
  EventFilter none;
  none.minimum_duration = 1'000'000'000;
  const EventStream all = stream_by_start(*trace, values.scope().lanes(), {}), nothing = stream_by_start(*trace, values.scope().lanes(), none);
  const auto empty = StoredOrder::make(values, nothing, EventColumn::kDuration, SortDirection::kDescending, {folder.path(), 1'000});
  REQUIRE(empty);
  CHECK((*empty)->size() == 0);

  std::stop_source stop;
  stop.request_stop();
  const auto stopped = StoredOrder::make(values, all, EventColumn::kDuration, SortDirection::kDescending, {folder.path(), 1'000}, {}, stop.get_token());
  REQUIRE(stopped);
  CHECK_FALSE(stopped->has_value());

  const auto failed = StoredOrder::make(values, all, EventColumn::kDuration, SortDirection::kDescending, {folder.path() / "missing", 1'000});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text.find("missing") != std::string::npos);
}

TEST_CASE("events visited by start are those that are gathered so, a part at a time") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  constexpr Nanoseconds kEvents = 1'500'000;
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    TrackKey key{TrackKind::kKernels, process};
    key.stream = stream;
    std::vector<Event> events;
    for (Nanoseconds i = 0; i < kEvents; ++i) events.push_back({i * 10 + stream, 4, 0, 0, 0});
    builder.add(key, std::move(events));
  }
  const auto trace = builder.snapshot();
  const EventScope scope = EventScope::whole_trace(*trace);
  std::vector<EventRef> visited;
  std::size_t parts = 0, largest = 0;
  visit_by_start(*trace, scope.lanes(), {}, [&](std::span<const EventRef> part) {
    visited.insert(visited.end(), part.begin(), part.end());
    ++parts;
    largest = std::max(largest, part.size());
    return true;
  });
  CHECK((visited == gather_by_start(*trace, scope.lanes(), {})));
  CHECK(parts > 1);
  CHECK(largest < 2 * kEvents);
  parts = 0;
  visit_by_start(*trace, scope.lanes(), {}, [&](std::span<const EventRef>) { return ++parts < 2; });
  CHECK(parts == 2);
}
