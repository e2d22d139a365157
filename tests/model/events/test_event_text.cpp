#include "model/events/event_text.h"

#include <algorithm>
#include <random>

#include "model/events/event_query.h"
#include "model/trace/trace_builder.h"
#include "random_trace.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

std::string written(Delimiter delimiter) {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, 9)},
              {{5, 10, builder.intern("load \"a, b\""), 0, 0}, {20, 1500, builder.intern("tab\there"), 0, 0}});
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const EventColumn columns[] = {EventColumn::kName, EventColumn::kStart, EventColumn::kDuration, EventColumn::kStream};
  std::string out;
  REQUIRE(write_events(values, gather_events(*trace, values.scope().lanes(), {}), columns, delimiter, [&](std::string_view piece) {
    out.append(piece);
    return true;
  }));
  return out;
}

}  // namespace

TEST_CASE("comma-separated events quote names that hold commas or quotes, and say their units") {
  CHECK(written(Delimiter::kComma) ==
        "Name,Start (ns),Duration (ns),Stream\r\n"
        "\"load \"\"a, b\"\"\",5,10,\r\n"
        "tab\there,20,1500,\r\n");
}

TEST_CASE("tab-separated events keep one cell a column") {
  CHECK(written(Delimiter::kTab) ==
        "Name\tStart (ns)\tDuration (ns)\tStream\n"
        "load \"a, b\"\t5\t10\t\n"
        "tab\\there\t20\t1500\t\n");
}

TEST_CASE("names can't send commands to the terminal that events are written to") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, 9)}, {{5, 10,
                                                                                                            builder.intern("\x1b[2J\xc2\x9b"
                                                                                                                           "31m\r"),
                                                                                                            0, 0}});
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const EventColumn columns[] = {EventColumn::kName};
  for (const Delimiter delimiter : {Delimiter::kComma, Delimiter::kTab}) {
    std::string out;
    CHECK(write_events(values, gather_events(*trace, values.scope().lanes(), {}), columns, delimiter, [&](std::string_view piece) {
      out.append(piece);
      return true;
    }));
    CHECK_THAT(out, contains_text("\\u001b[2J\\u009b31m\\r"));
    CHECK(out.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a full disk ends the writing") {
  const auto trace = TraceBuilder().snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const EventColumn columns[] = {EventColumn::kName};
  CHECK_FALSE(write_events(values, {}, columns, Delimiter::kComma, [](std::string_view) { return false; }));
}

namespace {

// Ranges of three domains that overlap at random, as foreign files may have them, with calls among them.
std::shared_ptr<const Trace> overlapping_trace(unsigned seed) {
  std::mt19937 random(seed);
  const auto between = [&](Nanoseconds low, Nanoseconds high) { return std::uniform_int_distribution<Nanoseconds>(low, high)(random); };
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  for (std::uint32_t number = 1; number <= 2; ++number) {
    const ThreadId thread = builder.thread(process, number);
    for (std::uint32_t domain = 0; domain < 3; ++domain) {
      std::vector<Event> ranges;
      for (int i = 0; i < 60; ++i) ranges.push_back({between(0, 300), between(0, 120), builder.intern("range " + std::to_string(between(0, 9))), 0, 0});
      std::sort(ranges.begin(), ranges.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
      builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread, .domain = domain}, ranges);
    }
    std::vector<Event> calls;
    for (int i = 0; i < 80; ++i) calls.push_back({i * 5, between(0, 30), builder.intern("call"), 0, 0});
    builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, calls);
  }
  return builder.snapshot();
}

}  // namespace

TEST_CASE("each written cell is what its event says of itself alone, however ranges nest and overlap") {
  const unsigned seed = GENERATE(range(0u, 12u));
  const bool overlaps = GENERATE(false, true);
  const auto trace = overlaps ? overlapping_trace(seed) : test::RandomTrace(seed).build();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  std::vector<EventRef> events = gather_by_start(*trace, values.scope().lanes(), {});
  if (seed % 2 == 1) std::shuffle(events.begin(), events.end(), std::mt19937(seed));
  const EventColumn columns[] = {EventColumn::kGapBefore, EventColumn::kNvtxRange};
  std::string expected = "Gap Before (ns)\tNVTX Range\n";
  for (const EventRef event : events) expected += values.text(event, columns[0]) + '\t' + values.text(event, columns[1]) + '\n';
  std::string out;
  REQUIRE(write_events(values, events, columns, Delimiter::kTab, [&](std::string_view piece) {
    out.append(piece);
    return true;
  }));
  CHECK(out == expected);
}
