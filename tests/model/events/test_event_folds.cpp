// Lists in which events with the same kind and family of names stand together.
#include "model/events/event_folds.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/events/name_family.h"
#include "random_trace.h"
#include "support/catch.h"

using namespace lanescope;
using lanescope::test::random_trace;

TEST_CASE("folds hold each event once, in the order of the list, with the sums of their durations") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const EventScope scope = EventScope::whole_trace(*trace);
  const EventValues values(trace, scope);
  const auto column = GENERATE(EventColumn::kStart, EventColumn::kDuration, EventColumn::kName, EventColumn::kBytes);
  const auto direction = GENERATE(SortDirection::kAscending, SortDirection::kDescending);
  const std::vector<EventRef> order = sort_events(values, gather_by_start(*trace, scope.lanes(), {}), column, direction);
  const std::vector<EventFold> folds = fold_events(values, order, column, direction);

  std::map<std::pair<EventKind, std::string>, std::vector<EventRef>> expected;
  for (const EventRef event : order) expected[{event_kind(*trace, event), name_family(trace->name(listed_name(*trace, event)))}].push_back(event);
  REQUIRE(folds.size() == expected.size());
  for (const EventFold& fold : folds) {
    CHECK(fold.events == expected.at({fold.kind, fold.family}));
    Nanoseconds duration = 0;
    Nanoseconds start = trace->event(fold.events.front()).start;
    for (const EventRef event : fold.events) {
      duration += trace->event(event).duration;
      start = std::min(start, trace->event(event).start);
    }
    CHECK(fold.duration == duration);
    CHECK(fold.start == start);
    CHECK(fold.count == fold.events.size());
  }
  for (std::size_t i = 1; i < folds.size(); ++i) {
    const EventFold& first = direction == SortDirection::kAscending ? folds[i - 1] : folds[i];
    const EventFold& second = direction == SortDirection::kAscending ? folds[i] : folds[i - 1];
    if (column == EventColumn::kDuration) CHECK(first.duration <= second.duration);
    if (column == EventColumn::kBytes) CHECK(first.bytes <= second.bytes);
    if (column == EventColumn::kName) CHECK(first.family <= second.family);
    if (column == EventColumn::kStart) CHECK(first.start <= second.start);
  }
}

TEST_CASE("folds of events that are not held have the same sums, and the first event by start alone") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const EventScope scope = EventScope::whole_trace(*trace);
  const EventValues values(trace, scope);
  const auto column = GENERATE(EventColumn::kStart, EventColumn::kDuration, EventColumn::kName, EventColumn::kBytes);
  const auto direction = GENERATE(SortDirection::kAscending, SortDirection::kDescending);
  std::vector<EventFold> expected = fold_events(values, gather_by_start(*trace, scope.lanes(), {}), column, direction);
  for (EventFold& fold : expected) fold.events.resize(1);
  std::uint64_t seen = 0;
  const EventStream stream = stream_by_start(*trace, {scope.lanes().begin(), scope.lanes().end()}, {});
  const std::vector<EventFold> folds = fold_stream(values, stream, column, direction, [&](std::uint64_t count) { seen = count; });
  REQUIRE(folds.size() == expected.size());
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const EventFold &fold = folds[i], &known = expected[i];
    CHECK((fold.kind == known.kind && fold.family == known.family && fold.events == known.events));
    CHECK((fold.count == known.count && fold.start == known.start && fold.duration == known.duration && fold.bytes == known.bytes));
    count += fold.count;
  }
  CHECK(count == seen);
}

TEST_CASE("folding that is asked to stop yields nothing") {
  const auto trace = random_trace(1);
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<EventRef> order = gather_by_start(*trace, values.scope().lanes(), {});
  std::stop_source stop;
  stop.request_stop();
  CHECK(fold_events(values, order, EventColumn::kStart, SortDirection::kAscending, stop.get_token()).empty());
  const EventStream stream = stream_by_start(*trace, {values.scope().lanes().begin(), values.scope().lanes().end()}, {});
  CHECK(fold_stream(values, stream, EventColumn::kStart, SortDirection::kAscending, {}, stop.get_token()).empty());
}
