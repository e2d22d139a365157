// PC samples of tests/programs/gpu/transpositions.cu, recorded on an H200 (tests/data/README.md), against what ncu 2025.3.1 sampled of the same kernels in the
// same minute, and against the lines of the program.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "model/analysis/rule.h"
#include "model/kernels/instructions/costly_line.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::shared_ptr<const Trace> recording() {
  const auto trace = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(trace);
  return *trace;
}

std::string line_with(std::string_view text) {
  std::ifstream file(test::data_file("../programs/gpu/transpositions.cu"));
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find(text) != std::string::npos) return "transpositions.cu:" + std::to_string(number);
  }
  FAIL("no line has " << text);
  return {};
}

const kernels::StallSum& sum_of(const Trace& trace, const std::vector<kernels::StallSum>& sums, std::string_view kernel) {
  for (const kernels::StallSum& sum : sums)
    if (trace.name(sum.kernel).starts_with(kernel)) return sum;
  FAIL("no samples of " << kernel);
  return sums.front();
}

}  // namespace

TEST_CASE("shares of stall reasons are those that ncu samples, within three points") {
  const auto trace = recording();
  const auto sums = kernels::sum_stalls(*trace, kernels::SumBy::kKernel);
  REQUIRE(sums.size() == 3);
  // Samples by ncu of one launch each: smsp__pcsamp_warps_issue_stalled_*, percent.
  const std::map<std::string, std::map<std::string, double>> ncu{
      {"transpose_by_columns", {{"long_scoreboard", 67.9}, {"drain", 15.5}, {"short_scoreboard", 6.5}, {"mio_throttle", 6.0}, {"lg_throttle", 3.7}}},
      {"transpose_shared", {{"mio_throttle", 41.9}, {"barrier", 17.1}, {"long_scoreboard", 15.7}, {"short_scoreboard", 11.5}, {"drain", 9.0}}},
      {"transpose_padded", {{"long_scoreboard", 65.4}, {"barrier", 26.0}, {"short_scoreboard", 2.5}, {"drain", 1.7}, {"wait", 1.7}}}};
  for (const auto& [kernel, reasons] : ncu) {
    const kernels::StallSum& sum = sum_of(*trace, sums, kernel);
    for (const auto& [reason, percent] : reasons) {
      double ours = 0;
      for (const kernels::StallCount& stall : sum.stalls)
        if (stall.reason == reason) ours = 100.0 * static_cast<double>(stall.samples) / static_cast<double>(sum.samples);
      CAPTURE(kernel, reason, percent, ours);
      CHECK(std::abs(ours - percent) < 3);
    }
  }
}

TEST_CASE("the code that was sampled is in the trace, and its lines are the program's") {
  const auto trace = recording();
  REQUIRE(trace->kernel_records().code.size() == 1);
  CHECK(trace->kernel_records().code[0]->whole());
  const auto lines = kernels::sum_stalls(*trace, kernels::SumBy::kLine);
  // The store along columns has more samples than any other line.
  CHECK(lines.front().line == line_with("out[place(column, row + i, kRows)] ="));
  CHECK(trace->name(lines.front().kernel).starts_with("transpose_by_columns"));
  // In the tiled kernels, an inlined line is followed by the line of the kernel.
  const std::string outer = line_with("{ through_tile<0>(out, in); }");
  const auto inlined = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return trace->name(line.kernel).starts_with("transpose_shared"); });
  REQUIRE(inlined != lines.end());
  CHECK(inlined->line == line_with("= tile[threadIdx.x][threadIdx.y + i];") + " < " + outer);
}

TEST_CASE("samples tell the line of a cause where instructions were not counted") {
  const auto trace = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(trace);
  for (const auto& sum : kernels::sum_stalls(**trace, kernels::SumBy::kKernel)) {
    const std::string_view name = (*trace)->name(sum.kernel);
    CAPTURE(name);
    const auto line = [&, process = sum.process, kernel = sum.kernel](std::string_view rule) {
      const auto found = kernels::costly_line(**trace, process, kernel, {.rule = rule});
      return found ? found->place : std::string();
    };
    if (name.starts_with("transpose_by_columns")) CHECK(line("global_access") == line_with("out[place(column, row + i, kRows)] ="));
    if (name.starts_with("transpose_shared")) CHECK(line("bank_conflicts").ends_with(" < " + line_with("{ through_tile<0>(out, in); }")));
    CHECK(line("fp64").empty());        // it has none
    CHECK(line("divergence").empty());  // samples do not tell this
    const auto stall = kernels::costly_line(**trace, sum.process, sum.kernel, {.rule = "stalls", .stall = sum.decisive()->reason});
    REQUIRE(stall);
    CHECK(stall->share > 0.2);
    CHECK(stall->stride.empty());  // only counts tell this
  }
}

TEST_CASE("the finding names the kernel that costs most first, with the line and the reason") {
  const auto trace = recording();
  const auto request = analysis::parse_rule("kernel_stalls");
  REQUIRE(request);
  const auto answer = analysis::apply_rule(*trace, *request);
  REQUIRE(answer);
  REQUIRE(!answer->findings.empty());
  const analysis::Finding& first = answer->findings.front();
  CHECK_THAT(first.title, contains_text("transpose_by_columns"));
  CHECK_THAT(first.title, contains_text(line_with("out[place(column, row + i, kRows)] =")));
  CHECK(first.place.line == line_with("out[place(column, row + i, kRows)] ="));
  CHECK(first.key == "long_scoreboard");
  Nanoseconds total = 0;
  for (const Track& track : trace->tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; track.key.kind == TrackKind::kKernels && i < trace->lane(id).size(); ++i)
        if (trace->name(trace->lane(id).name(i)).starts_with("transpose_by_columns")) total += trace->lane(id).end(i) - trace->lane(id).start(i);
  CHECK(first.cost > total / 2);
  CHECK(first.cost < total);
}

TEST_CASE("without counters, waiting is not promised to be saved, and what tells is named") {
  const auto trace = recording();
  const auto answer = analysis::apply_rule(*trace, *analysis::parse_rule("kernel_stalls"));
  REQUIRE(answer);
  bool has_padded = false;
  for (const analysis::Finding& finding : answer->findings) {
    CHECK_THAT(finding.title, !contains_text("save up to"));
    CHECK_THAT(finding.title, contains_text("whether that can be saved, samples do not say"));
    const Event event = trace->event(finding.place.event);
    const std::string kernel(trace->name(trace->kernel_detail(event.detail).short_name));
    CHECK_THAT(finding.advice, contains_text("lanescope kernels --set triage -k " + kernel + " -- PROGRAM"));
    has_padded |= kernel == "transpose_padded";
  }
  CHECK(has_padded);  // it is bound by DRAM, as its counters say (tests/data/kernel_counters.trace)
}

TEST_CASE("waiting of a kernel whose counters say that a unit is used well is no finding, and of another one no more than is left of that unit") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const GpuId gpu = builder.gpu_of_device(process, 0);
  const TrackKey track{.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7};
  const std::uint32_t compute = builder.kernel_metric("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
                      memory = builder.kernel_metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  KernelDetail shape;
  shape.grid[0] = 1'000;
  shape.block[0] = 256;
  const DetailId detail = builder.intern(shape);
  PcSampleWindow window{process, gpu, 1, {0, 100'000'000}, 1 << 20, {}, 0, 0, false, 0};
  std::uint32_t correlation = 0;
  for (const auto& [name, percent] : {std::pair("copies", 77.0), std::pair("waits", 40.0)}) {
    const NameId id = builder.intern(name);
    ++correlation;
    builder.add(track, {Event{correlation * 10'000'000, 1'000'000, id, correlation, detail}});
    builder.add(MeasuredLaunch{process, correlation, KernelReplay::kOnePass, 1, {}, 0, {{compute, 5}, {memory, percent}}});
    const GpuFunctionId function = builder.gpu_function({process, 1, correlation, id, id});
    window.samples.push_back({function, builder.stall_reason("long_scoreboard"), 0, 900, 900});
    window.samples.push_back({function, builder.stall_reason("selected"), 0, 100, 0});
  }
  builder.add(window);
  const auto found = [&builder] {
    const auto answer = analysis::apply_rule(*builder.snapshot(), *analysis::parse_rule("kernel_stalls"));
    REQUIRE(answer);
    REQUIRE(answer->findings.size() == 1);
    return answer->findings[0];
  };
  CHECK_THAT(found().title, contains_text("Warps of kernel waits wait for"));
  CHECK_THAT(found().title, contains_text("could save up to"));
  CHECK(found().cost == Approx(0.6 * 1'000'000).margin(1));  // of the 0.9 for which it waits
  // Another process runs the same kernel on the GPU at the same time: of the 2 ms of both launches, half can be won.
  TrackKey other = track;
  other.process = builder.process_of_instance(2);
  builder.add(other, {Event{20'000'000, 1'000'000, builder.intern("waits"), 2, detail}});
  CHECK(found().cost == Approx(0.6 * 500'000).margin(1));
}

TEST_CASE("warps that wait for their stores to leave do so at the store, not at the end of the kernel") {
  const auto trace = recording();
  const std::string end = [] {  // the line after the store in the loop
    const std::string store = line_with("out[place(column, row + i, kRows)] =");
    return "transpositions.cu:" + std::to_string(std::stoi(store.substr(store.find(':') + 1)) + 1);
  }();
  std::uint64_t drain = 0;
  for (const auto& sum : kernels::sum_stalls(*trace, kernels::SumBy::kKernel))
    for (const kernels::StallCount& stall : sum.stalls) drain += stall.reason == "drain" ? stall.samples : 0;
  CHECK(drain > 1'000);
  std::uint64_t found = 0;
  for (const auto& sum : kernels::sum_stalls(*trace, kernels::SumBy::kLine)) {
    const bool by_columns = trace->name(sum.kernel).starts_with("transpose_by_columns");
    for (const kernels::StallCount& stall : sum.stalls) {
      if (stall.reason != "drain") continue;
      found += stall.samples;
      CHECK(sum.line != end);
      if (by_columns) CHECK(sum.line == line_with("out[place(column, row + i, kRows)] ="));
      if (by_columns) CHECK(stall.samples > 1'000);  // 15 % of 13,290
    }
  }
  CHECK(found == drain);  // none is lost
  for (const auto& sum : kernels::sum_stalls(*trace, kernels::SumBy::kKernel)) {
    if (!trace->name(sum.kernel).starts_with("transpose_by_columns")) continue;
    const auto line = kernels::costly_line(*trace, sum.process, sum.kernel, {.rule = "stalls", .stall = "drain"});
    REQUIRE(line);
    CHECK(line->place == line_with("out[place(column, row + i, kRows)] ="));
    CHECK(line->share == Approx(1));
  }
}

TEST_CASE("warp stalls lie beside the kernels that were sampled") {
  const auto trace = recording();
  TimeRange kernels{std::numeric_limits<Nanoseconds>::max(), 0};
  std::vector<std::pair<TimeRange, std::string>> runs;
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace->lane(id).size(); ++i) {
        const Event event = trace->lane(id).event(i);
        runs.push_back({{event.start, event.end()}, std::string(trace->name(event.name))});
        if (runs.back().second.starts_with("transpose")) kernels = {std::min(kernels.begin, event.start), std::max(kernels.end, event.end())};
      }
  }
  std::size_t counters = 0;
  for (CounterId id = 0; id < trace->counters().size(); ++id) {
    if (trace->counters()[id].group != "Warp stalls") continue;
    ++counters;
    CHECK(trace->counter_series(id).extent().begin >= kernels.begin);
    CHECK(trace->counter_series(id).extent().end <= kernels.end);
  }
  CHECK(counters >= 5);
  // Within a part of the time, the kernels that ran in it have samples, and no others.
  for (Nanoseconds begin = kernels.begin; begin < kernels.end; begin += 7'000'000) {
    const TimeRange time{begin, begin + 2'000'000};
    std::set<std::string> ran, sampled;
    for (const auto& [run, name] : runs)
      if (run.begin < time.end && run.end > time.begin && name.starts_with("transpose")) ran.insert(name);
    for (const auto& sum : kernels::sum_stalls(*trace, kernels::SumBy::kKernel, time)) sampled.insert(std::string(trace->name(sum.kernel)));
    CHECK(sampled == ran);
  }
}

TEST_CASE("warp stalls are counters of the GPU, and those of a moment sum up to all") {
  const auto trace = recording();
  double sum = 0;
  std::size_t counters = 0;
  for (CounterId id = 0; id < trace->counters().size(); ++id) {
    const Counter& counter = trace->counters()[id];
    if (counter.group != "Warp stalls") continue;
    ++counters;
    CHECK(counter.gpu == 0);
    sum += static_cast<double>(trace->counter_series(id).sample(0).value) * counter.resolution;
  }
  CHECK(counters >= 5);
  CHECK(sum > 95);
  CHECK(sum < 100.1);
}
