#include "model/events/event_pivot.h"

#include <algorithm>
#include <map>

#include "model/events/name_family.h"
#include "random_trace.h"
#include "support/catch.h"

using namespace lanescope;
using lanescope::test::random_trace;

namespace {

// The text of a column, made by hand, for a trace whose two processes have the same name and the same streams.
std::string text_by_hand(const EventValues& values, EventRef event, PivotColumn column) {
  const TrackKey& key = values.trace().track_of(event.lane).key;
  switch (column) {
    case PivotColumn::kFamily:
      return name_family(values.text(event, EventColumn::kName));
    case PivotColumn::kNvtxFamily:
      return name_family(values.text(event, EventColumn::kNvtxRange));
    case PivotColumn::kStream:
      return is_on_stream(key.kind) ? values.text(event, EventColumn::kStream) + " · " + values.text(event, EventColumn::kProcess) : std::string();
    case PivotColumn::kNvtxRange:
      return values.text(event, EventColumn::kNvtxRange);
    case PivotColumn::kKind:
      return values.text(event, EventColumn::kKind);
    case PivotColumn::kGrid:
      return values.text(event, EventColumn::kGrid);
    case PivotColumn::kRegisters:
      return values.text(event, EventColumn::kRegisters);
    case PivotColumn::kThread:
      return values.text(event, EventColumn::kThread);
    default:
      return values.text(event, EventColumn::kName);
  }
}

const std::vector<std::vector<PivotColumn>> kChoices = {{PivotColumn::kKind},
                                                        {PivotColumn::kName},
                                                        {PivotColumn::kFamily, PivotColumn::kKind},
                                                        {PivotColumn::kStream, PivotColumn::kGrid},
                                                        {PivotColumn::kNvtxFamily, PivotColumn::kThread},
                                                        {PivotColumn::kNvtxRange, PivotColumn::kName},
                                                        {PivotColumn::kRegisters, PivotColumn::kGrid, PivotColumn::kStream}};

}  // namespace

TEST_CASE("sums by columns are those of the events that say the same, and a filter finds these again") {
  const auto trace = random_trace(GENERATE(range(1u, 6u)));
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<EventRef> events = gather_by_start(*trace, values.scope().lanes(), {});
  for (const std::vector<PivotColumn>& columns : kChoices) {
    std::map<std::vector<std::string>, std::vector<EventRef>> expected;
    for (const EventRef event : events) {
      std::vector<std::string> texts;
      for (const PivotColumn column : columns) texts.push_back(text_by_hand(values, event, column));
      expected[texts].push_back(event);
    }
    const std::vector<PivotGroup> groups = sum_by_columns(values, events, columns);
    REQUIRE(groups.size() == expected.size());
    CHECK(std::is_sorted(groups.begin(), groups.end(), [](const PivotGroup& a, const PivotGroup& b) { return a.total > b.total; }));
    for (const PivotGroup& group : groups) {
      REQUIRE(expected.contains(group.values));
      const std::vector<EventRef>& members = expected.at(group.values);
      std::vector<Nanoseconds> durations;
      for (const EventRef event : members) durations.push_back(trace->event(event).duration);
      Nanoseconds total = 0;
      for (const Nanoseconds duration : durations) total += duration;
      CHECK(group.count == members.size());
      CHECK(group.total == total);
      CHECK(group.minimum == *std::min_element(durations.begin(), durations.end()));
      CHECK(group.maximum == *std::max_element(durations.begin(), durations.end()));
      CHECK(trace->event(group.longest).duration == group.maximum);
      EventFilter filter;
      for (std::size_t i = 0; i < columns.size(); ++i) filter.values.push_back({columns[i], group.values[i]});
      CHECK(gather_by_start(*trace, values.scope().lanes(), filter) == members);
    }
  }
}

TEST_CASE("grids of one size and of other shapes are summed apart") {
  TraceBuilder builder;
  std::vector<Event> events;
  for (const auto& [x, y] : {std::pair(128u, 1u), std::pair(1u, 128u), std::pair(128u, 1u)}) {
    KernelDetail detail;
    detail.grid[0] = x, detail.grid[1] = y, detail.grid[2] = 1;
    events.push_back({static_cast<Nanoseconds>(events.size()) * 100, 10, builder.intern("gemm"), 0, builder.intern(detail)});
  }
  builder.add({.kind = TrackKind::kKernels, .process = builder.process_of_instance(1), .gpu = builder.gpu(Gpu{}), .context = 1, .stream = 7}, events);
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<PivotColumn> by = {PivotColumn::kGrid};
  const std::vector<PivotGroup> groups = sum_by_columns(values, gather_by_start(*trace, values.scope().lanes(), {}), by);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].values == std::vector<std::string>{"128 × 1 × 1"});
  CHECK(groups[0].count == 2);
  CHECK(groups[1].values == std::vector<std::string>{"1 × 128 × 1"});
}

TEST_CASE("summing ends without a result when it is asked to stop, and tells how far it has come") {
  const auto trace = random_trace(3);
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const EventStream stream = stream_by_start(*trace, values.scope().lanes(), {});
  const std::vector<PivotColumn> by = {PivotColumn::kProcess};
  std::uint64_t seen = 0;
  const std::vector<PivotGroup> groups = sum_by_columns(values, stream, by, [&](std::uint64_t events) { seen = events; });
  CHECK(seen == trace->event_count());
  CHECK(groups.size() == 2);
  std::stop_source stopped;
  stopped.request_stop();
  CHECK(sum_by_columns(values, stream, by, {}, stopped.get_token()).empty());
}

TEST_CASE("ranges are told apart by the names of their NVTX domains") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.set_domain(process, 3, "loader");
  for (const std::uint32_t domain : {0u, 3u, 3u}) {
    const TrackKey key{.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, 1), .domain = domain};
    builder.add(key, {Event{0, domain == 0 ? 100 : 7, builder.intern("item"), 0, 0}}, std::vector<std::uint32_t>{0});
  }
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<PivotColumn> by = {PivotColumn::kName, PivotColumn::kDomain};
  const std::vector<PivotGroup> groups = sum_by_columns(values, gather_by_start(*trace, values.scope().lanes(), {}), by);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].values == std::vector<std::string>{"item", ""});
  CHECK(groups[0].total == 100);
  CHECK(groups[1].values == std::vector<std::string>{"item", "loader"});
  CHECK(groups[1].count == 2);
  for (const PivotGroup& group : groups) {
    EventFilter filter;
    filter.values = {{PivotColumn::kDomain, group.values[1]}};
    CHECK(gather_by_start(*trace, values.scope().lanes(), filter).size() == group.count);
  }
}
