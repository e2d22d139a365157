// PC samples that were recorded on an H200 of tests/programs/transpositions.cu (tests/data/README.md), against what ncu 2025.3.1 sampled of
// the same kernels in the same minute, and against the lines of the program.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "model/kernels/costly_line.h"
#include "model/analysis/rule.h"
#include "model/kernels/pc_statistics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
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
  std::ifstream file(test::data_file("../programs/transpositions.cu"));
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
  // Of ncu's samples of one launch each: smsp__pcsamp_warps_issue_stalled_*, percent.
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
  // The store along columns holds more samples than any other line.
  CHECK(lines.front().line == line_with("out[place(column, row + i, kRows)] ="));
  CHECK(trace->name(lines.front().kernel).starts_with("transpose_by_columns"));
  // In the tiled kernels, what was inlined has the line of the kernel behind it.
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
    CHECK(line("fp64").empty());  // it has none
    CHECK(line("divergence").empty());  // which samples do not tell
    const auto stall = kernels::costly_line(**trace, sum.process, sum.kernel, {.rule = "stalls", .stall = sum.decisive()->reason});
    REQUIRE(stall);
    CHECK(stall->share > 0.2);
    CHECK(stall->stride.empty());  // which only counts tell
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
