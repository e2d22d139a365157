#include "model/events/event_text.h"

#include "model/events/event_query.h"
#include "model/trace/trace_builder.h"
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
