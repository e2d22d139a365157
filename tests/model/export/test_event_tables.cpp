#include <algorithm>

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/export/left_out.h"
#include "model/export/text_export.h"
#include "sample_trace.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

template <typename Export>
std::string text_of(Export export_text) {
  std::string text;
  REQUIRE(export_text([&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

// The sample's states of processors, which say when its thread ran on which processor: rows of lists are only those of the thread.
constexpr std::size_t kOfProcessors = 3;

std::size_t count_of(std::string_view text, char c) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), c)); }

}  // namespace

TEST_CASE("JSON has one object an event, by start") {
  const auto trace = sample_trace();
  const auto rows = nlohmann::json::parse(text_of([&](const TextConsumer& write) { return export_json(*trace, write); }));
  REQUIRE(rows.size() == trace->event_count() - kOfProcessors);
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i - 1]["start_ns"] <= rows[i]["start_ns"]);
  CHECK(rows[0]["name"] == "pthread_cond_wait");
  CHECK(rows[0]["pid"] == 4712);
  for (const auto& row : rows) {
    if (row["kind"] != "Kernel") continue;
    CHECK(row["name"] == "axpy(float*, int, float)");
    CHECK(row["grid"] == nlohmann::json({256, 1, 1}));
    CHECK(row["stream"] == 7);
    break;
  }
  const auto sample = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row["kind"] == "CPU sample"; });
  REQUIRE(sample != rows.end());
  CHECK((*sample)["stack"] == "python3+0x1000;middle;inner;load");
  CHECK((*sample)["processor"] == 3);
}

TEST_CASE("CSV and tab-separated text have a header and one line an event") {
  const auto trace = sample_trace();
  const std::string csv = text_of([&](const TextConsumer& write) { return export_csv(trace, write); });
  const std::string tabs = text_of([&](const TextConsumer& write) { return export_text(trace, write); });
  CHECK(count_of(csv, '\n') == trace->event_count() - kOfProcessors + 1);
  CHECK(count_of(tabs, '\n') == trace->event_count() - kOfProcessors + 1);
  CHECK_THAT(csv, contains_text("\"axpy(float*, int, float)\""));  // quoted because of its commas
  CHECK_THAT(tabs, contains_text("axpy(float*, int, float)\t"));
}

TEST_CASE("states of threads are there once, with their thread and the processor that they ran on") {
  const auto trace = sample_trace();
  const auto rows = nlohmann::json::parse(text_of([&](const TextConsumer& write) { return export_json(*trace, write); }));
  std::vector<std::string> states;
  for (const auto& row : rows) {
    if (row["kind"] != "Thread state") continue;
    CHECK(row["pid"] == 4711);
    CHECK(row["tid"] == 4711);
    CHECK_FALSE(row.contains("correlation"));
    states.push_back(row["name"].get<std::string>() + " " + (row.contains("processor") ? std::to_string(row["processor"].get<int>()) : "-"));
  }
  CHECK(states == std::vector<std::string>{"Running 3", "Runnable -", "Running 0", "Blocked -", "Running 1"});

  std::istringstream lines(text_of([&](const TextConsumer& write) { return export_text(trace, write); }));
  std::string line;
  std::getline(lines, line);
  CHECK(line.ends_with("\tProcessor"));
  std::vector<std::string> ends;
  while (std::getline(lines, line))
    if (line.find("\tThread state\t") != std::string::npos) {
      CHECK_THAT(line, contains_text("\t[4711] main\t"));
      ends.push_back(line.substr(line.rfind('\t') + 1));
    }
  CHECK(ends == std::vector<std::string>{"3", "", "0", "", "1"});
}

TEST_CASE("what a list of events, or the tables of Nsight Systems, have no place for is told by count") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const GpuId gpu = builder.gpu_of_device(process, 0);
  const auto add_counter = [&](const char* name, GpuId of, std::vector<Nanoseconds> times) {
    Counter counter;
    counter.name = name;
    counter.gpu = of;
    const std::vector<std::int64_t> values(times.size(), 1);
    builder.set_series(builder.counter(counter), CounterSeries(times, values, times.back() + 10));
  };
  add_counter("SMs active", gpu, {0, 10, 20});
  add_counter("DRAM", gpu, {0, 10, 20});
  add_counter("Network", kNone, {5, 15});
  TrackKey stream{TrackKind::kKernels, process};
  stream.gpu = gpu;
  builder.add(stream, {{0, 5, builder.intern("k"), 1, 0}, {100, 5, builder.intern("k"), 2, 0}});
  for (const std::uint32_t correlation : {1u, 2u}) {
    MeasuredLaunch launch;
    launch.process = process;
    launch.correlation = correlation;
    launch.values = {{builder.kernel_metric("sm__cycles"), 7}};
    builder.add(launch);
  }
  const CodeLocationId code = builder.code_location({CodeKind::kNative, builder.intern("program"), 0, 0x10}, {builder.intern("f"), builder.intern("f.c"), 3});
  const SampleEvent samples[] = {{50, 0, {builder.call_node({0, code}), SampleOrigin::kTimer, 0, 1}}};
  add_samples(builder, process, 7, samples);
  const auto trace = builder.snapshot();

  CHECK(left_out_of(*trace, {}, ForeignFormat::kEventList) == "8 values of 3 counters, hardware counters of 2 kernels, 1 source line of call chains");
  CHECK(left_out_of(*trace, {}, ForeignFormat::kNsysTables) == "2 values of 1 counter, hardware counters of 2 kernels, 1 source line of call chains");
  ExportSelection late;
  late.window = TimeRange{90, 200};
  CHECK(left_out_of(*trace, late, ForeignFormat::kEventList) == "hardware counters of 1 kernel, 1 source line of call chains");
  CHECK(left_out_of(*TraceBuilder().snapshot(), {}, ForeignFormat::kEventList).empty());
}

TEST_CASE("long names that come again, in turns, are written as each is") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const std::string first = "\"a\", " + std::string(400, 'x'), second = std::string(400, 'x') + "\ty";  // the first one is quoted
  std::vector<Event> calls;
  for (int i = 0; i < 6; ++i) calls.push_back({i * 10, 5, builder.intern(i % 3 == 0 ? first : second), 0, 0});
  builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 1)}, calls);
  const auto trace = builder.snapshot();
  const std::string csv = text_of([&](const TextConsumer& write) { return export_csv(trace, write); });
  const std::string quoted = "\n\"\"\"a\"\", " + std::string(400, 'x') + "\",";
  std::vector<bool> is_first;
  for (std::size_t at = csv.find('\n'); at + 1 < csv.size(); at = csv.find('\n', at + 1)) is_first.push_back(csv.compare(at, quoted.size(), quoted) == 0);
  CHECK(is_first == std::vector<bool>{true, false, false, true, false, false});
}

TEST_CASE("tables hold only the events within the times that were asked for") {
  ExportSelection selection;
  selection.window = TimeRange{2'600, 2'900};
  const auto trace = sample_trace();
  const auto rows = nlohmann::json::parse(text_of([&](const TextConsumer& write) { return export_json(*trace, write, selection); }));
  CHECK(rows.size() == 4);  // the wait and its backtrace, the step, the second kernel
}
