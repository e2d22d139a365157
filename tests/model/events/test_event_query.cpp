#include "model/events/event_query.h"

#include <algorithm>
#include <cctype>

#include "model/trace/building/thread_states.h"
#include "random_trace.h"
#include "support/catch.h"

using namespace lanescope;
using lanescope::test::random_trace;

namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// True if the filter accepts an event, decided from its values as a reader of the table would.
bool wanted(const EventValues& values, EventRef ref, const EventFilter& filter) {
  const Trace& trace = values.trace();
  const Event event = trace.event(ref);
  const TrackKey& key = trace.track_of(ref.lane).key;
  if (lower_case(std::string(trace.name(event.name))).find(lower_case(filter.text)) == std::string::npos) return false;
  if (filter.window) {
    const bool overlaps = event.start < filter.window->end && event.end() > filter.window->begin;
    if (!overlaps && !filter.window->contains(event.start)) return false;
  }
  if (event.duration < filter.minimum_duration) return false;
  if (filter.kind && event_kind(trace, ref) != *filter.kind) return false;
  if (filter.thread && (is_on_stream(key.kind) || key.thread != *filter.thread)) return false;
  if (filter.stream && (!is_on_stream(key.kind) || *filter.stream != StreamName{key.process, key.context, key.stream})) return false;
  return true;
}

std::vector<EventFilter> filters() {
  std::vector<EventFilter> all(1);
  all.push_back({.text = "GEMM"});
  all.push_back({.window = TimeRange{300, 700}});
  all.push_back({.minimum_duration = 12});
  for (const EventKind kind : all_event_kinds()) all.push_back({.kind = kind});
  all.push_back({.thread = ThreadId{1}});
  all.push_back({.stream = StreamName{0, 1, 13}});
  all.push_back({.text = "a", .window = TimeRange{100, 900}, .minimum_duration = 5, .kind = EventKind::kKernel, .stream = StreamName{1, 1, 7}});
  return all;
}

// The content of a cell, so that two cells can be compared: numbers by value, text without regard to letter case.
std::pair<std::int64_t, std::string> sort_value(const EventValues& values, EventRef event, EventColumn column) {
  if (event_column_content(column) != ColumnContent::kText) return {values.number(event, column).value_or(0), ""};
  return {0, lower_case(values.text(event, column))};
}

bool is_missing(const EventValues& values, EventRef event, EventColumn column) {
  return event_column_content(column) == ColumnContent::kText ? values.text(event, column).empty() : !values.number(event, column).has_value();
}

}  // namespace

TEST_CASE("a filter lets through what each event's own values say, and nothing else") {
  const auto trace = random_trace(GENERATE(range(1u, 6u)));
  const EventValues values(trace, EventScope::whole_trace(*trace));
  for (const EventFilter& filter : filters()) {
    std::vector<EventRef> expected;
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane)
      for (EventIndex i = 0; i < trace->lane(lane).size(); ++i)
        if (wanted(values, {lane, i}, filter)) expected.push_back({lane, i});
    REQUIRE(gather_events(*trace, values.scope().lanes(), filter) == expected);
    std::stable_sort(expected.begin(), expected.end(), [&](EventRef a, EventRef b) { return trace->event(a).start < trace->event(b).start; });
    REQUIRE(gather_by_start(*trace, values.scope().lanes(), filter) == expected);
  }
}

TEST_CASE("sorting by any column in any direction equals a stable sort of the cells, cells without a value last") {
  const auto trace = random_trace(GENERATE(1u, 2u));
  const EventColumn column = GENERATE(from_range(all_event_columns()));
  const SortDirection direction = GENERATE(SortDirection::kAscending, SortDirection::kDescending);
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<EventRef> events = gather_events(*trace, values.scope().lanes(), {});

  std::vector<EventRef> expected = events;
  std::stable_sort(expected.begin(), expected.end(), [&](EventRef a, EventRef b) {
    const bool missing_a = is_missing(values, a, column), missing_b = is_missing(values, b, column);
    if (missing_a || missing_b) return missing_b && !missing_a;
    const auto value_a = sort_value(values, a, column), value_b = sort_value(values, b, column);
    return direction == SortDirection::kAscending ? value_a < value_b : value_a > value_b;
  });

  REQUIRE(sort_events(values, events, column, direction) == expected);
  const std::size_t page = GENERATE(0u, 1u, 25u, 100000u);
  expected.resize(std::min(page, expected.size()));
  REQUIRE(first_events(values, events, column, direction, page) == expected);
}

TEST_CASE("very many events, sorted by several threads, and their first page are as a stable sort has them") {
  constexpr std::uint32_t kEvents = 400'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const Nanoseconds distance = GENERATE(Nanoseconds{100}, Nanoseconds{1} << 30);  // with the second distance, times and positions take 67 bits
  for (const std::uint32_t stream : {7u, 13u}) {
    std::vector<Event> kernels(kEvents / 2);
    for (std::uint32_t i = 0; i < kernels.size(); ++i)  // every fourth has no correlation; many durations are equal
      kernels[i] = {distance * i + stream, (i * 7919u) % 89, 0, i % 4 == 0 ? 0 : (i * 31337u) % 1'000'003, 0};
    kernels.back().duration = 123'456'789'012;
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = 0, .stream = stream}, kernels);
  }
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<EventRef> events = gather_events(*trace, values.scope().lanes(), {});
  REQUIRE(events.size() == kEvents);
  const EventColumn column = GENERATE(EventColumn::kStart, EventColumn::kDuration, EventColumn::kCorrelation);
  const SortDirection direction = GENERATE(SortDirection::kAscending, SortDirection::kDescending);

  std::vector<EventRef> expected = events;
  std::stable_sort(expected.begin(), expected.end(), [&](EventRef a, EventRef b) {
    const auto value_a = values.number(a, column), value_b = values.number(b, column);
    if (!value_a || !value_b) return value_a.has_value() && !value_b;
    return direction == SortDirection::kAscending ? *value_a < *value_b : *value_a > *value_b;
  });
  REQUIRE(sort_events(values, events, column, direction) == expected);
  const std::size_t page = GENERATE(1u, 100u, 150'000u, 390'000u);
  expected.resize(page);
  REQUIRE(first_events(values, events, column, direction, page) == expected);
}

TEST_CASE("events of several lanes are gathered by start, a part at a time, as a stable sort has them") {
  constexpr std::uint32_t kEvents = 900'000;                                 // on each of three lanes: several parts
  const Nanoseconds crowd = GENERATE(Nanoseconds{0}, Nanoseconds{300'000});  // this many of each start at the same time
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  for (const std::uint32_t stream : {7u, 13u, 20u}) {
    std::vector<Event> kernels(kEvents);
    for (std::uint32_t i = 0; i < kEvents; ++i)
      kernels[i] = {std::max<Nanoseconds>(i, crowd) * stream, i < crowd ? 0 : 5, i % 3 == 0 ? builder.intern("third") : 0, i, 0};
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = 0, .stream = stream}, kernels);
  }
  const auto trace = builder.snapshot();
  const EventScope all = EventScope::whole_trace(*trace);
  for (const EventFilter& filter : {EventFilter{}, EventFilter{.text = "third"}, EventFilter{.window = TimeRange{1'000'000, 9'000'000}}}) {
    std::vector<EventRef> expected = gather_events(*trace, all.lanes(), filter);
    REQUIRE(expected.size() > 500'000);
    std::stable_sort(expected.begin(), expected.end(), [&](EventRef a, EventRef b) { return trace->event(a).start < trace->event(b).start; });
    REQUIRE(gather_by_start(*trace, all.lanes(), filter) == expected);
  }
}

TEST_CASE("a query that was asked to stop yields no order") {
  const auto trace = random_trace(1);
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<EventRef> events = gather_events(*trace, values.scope().lanes(), {});
  std::stop_source source;
  source.request_stop();
  CHECK(gather_events(*trace, values.scope().lanes(), {}, source.get_token()).empty());
  CHECK(gather_by_start(*trace, values.scope().lanes(), {}, source.get_token()).empty());
  CHECK(sort_events(values, events, EventColumn::kGapBefore, SortDirection::kDescending, source.get_token()).empty());
  CHECK(first_events(values, events, EventColumn::kStart, SortDirection::kDescending, 10, source.get_token()).empty());
}

TEST_CASE("an event is found where it stands in an order") {
  const std::vector<EventRef> order = {{3, 1}, {0, 9}, {2, 2}};
  CHECK(position_of(order, {0, 9}) == 1u);
  CHECK_FALSE(position_of(order, {9, 0}).has_value());
}

TEST_CASE("an event is found in every order without going through it") {
  const auto trace = random_trace(GENERATE(1, 2));
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const std::vector<EventRef> events = gather_by_start(*trace, values.scope().lanes(), {});
  REQUIRE(events.size() > 100);
  for (std::size_t i = 0; i < events.size(); ++i) REQUIRE(position_by_start(*trace, events, events[i]) == i);
  const std::vector<EventRef> others = gather_by_start(*trace, values.scope().lanes(), {.window = TimeRange{0, trace->extent().end / 2}});
  for (const EventRef event : events)
    REQUIRE(position_by_start(*trace, others, event).has_value() == (std::find(others.begin(), others.end(), event) != others.end()));
  for (std::size_t column = 0; column < kEventColumnCount; ++column)
    for (const SortDirection direction : {SortDirection::kAscending, SortDirection::kDescending}) {
      const auto by = static_cast<EventColumn>(column);
      CAPTURE(column, static_cast<int>(direction));
      const std::vector<EventRef> order = sort_events(values, events, by, direction);
      for (std::size_t i = 0; i < order.size(); i += 7) REQUIRE(position_in_order(values, order, order[i], by, direction) == i);
      const std::span<const EventRef> first = std::span(order).first(50);
      REQUIRE(position_in_order(values, first, order[49], by, direction) == std::size_t{49});
      REQUIRE_FALSE(position_in_order(values, first, order[50], by, direction).has_value());
    }
}

TEST_CASE("a text finds samples by the functions of their call chains, whatever the samples are called") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const auto call = [&](CallNodeId caller, const char* name) {
    return builder.call_node({caller, builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern(name), 0, 0})});
  };
  const CallNodeId train = call(0, "train");
  const CallNodeId load = call(train, "load_batch");
  const SampleEvent samples[] = {{1, 0, {load, SampleOrigin::kTimer}}, {2, 0, {train, SampleOrigin::kTimer}}, {3, 0, {0, SampleOrigin::kTimer}}};
  add_samples(builder, process, 7, samples);
  const auto trace = builder.snapshot();
  const auto found = [&](const char* text) { return gather_events(*trace, EventScope::whole_trace(*trace).lanes(), {.text = text}).size(); };
  CHECK(found("LOAD") == 1);
  CHECK(found("train") == 2);
  CHECK(found("CPU sample") == 3);
  CHECK(found("evaluate") == 0);

  // In lists their name is the code that ran, and they are sorted by this name.
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const auto all = gather_events(*trace, values.scope().lanes(), {});
  std::vector<std::string> names;
  for (const EventRef event : sort_events(values, all, EventColumn::kName, SortDirection::kDescending)) names.push_back(values.text(event, EventColumn::kName));
  CHECK(names == std::vector<std::string>{"train", "load_batch", "CPU sample"});
}

TEST_CASE("CUDA events are of their stream") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  for (const std::uint32_t stream : {7u, 13u})
    builder.add({.kind = TrackKind::kCudaEvents, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = stream},
                {{stream, 0, builder.intern("event"), 0, 0}});
  const auto trace = builder.snapshot();
  const EventScope all = EventScope::whole_trace(*trace);
  const auto found = gather_events(*trace, all.lanes(), {.stream = StreamName{process, 1, 13}});
  REQUIRE(found.size() == 1);
  CHECK(trace->lane(found[0].lane).start(found[0].index) == 13);
  const EventValues values(trace, all);
  CHECK_THAT(values.text(found[0], EventColumn::kStream), contains_text("13"));
}

TEST_CASE("the next event of a filter, and the one before, are the neighbours in the order by start, from any place") {
  const auto seed = GENERATE(range(1u, 6u));
  const auto trace = random_trace(seed);
  const EventScope all = EventScope::whole_trace(*trace);
  for (const EventFilter& filter : {EventFilter{}, EventFilter{.minimum_duration = 12}, EventFilter{.text = "no such name"}}) {
    const std::vector<EventRef> order = gather_by_start(*trace, all.lanes(), filter);
    const auto place = [&](EventRef event) { return EventPosition{trace->event(event).start, event}; };
    const auto find = [&](EventPosition from, SearchDirection direction) { return find_event(*trace, all.lanes(), filter, from, direction); };
    if (order.empty()) {
      CHECK_FALSE(find({0, {0, 0}}, SearchDirection::kForward));
      CHECK_FALSE(find({0, {0, 0}}, SearchDirection::kBackward));
      continue;
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(find(place(order[i]), SearchDirection::kForward) == order[(i + 1) % order.size()]);
      REQUIRE(find(place(order[i]), SearchDirection::kBackward) == order[(i + order.size() - 1) % order.size()]);
    }
    CHECK(find({trace->extent().begin - 10, {0, 0}}, SearchDirection::kForward) == order.front());
    CHECK(find({trace->extent().end + 10, {0, 0}}, SearchDirection::kForward) == order.front());
    CHECK(find({trace->extent().begin - 10, {0, 0}}, SearchDirection::kBackward) == order.back());
    CHECK(find({trace->extent().end + 10, {0, 0}}, SearchDirection::kBackward) == order.back());
  }
}
