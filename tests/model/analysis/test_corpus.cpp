// Real traces of other tools, against the results of independent tools.
#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/analysis/idle/idle.h"
#include "model/analysis/idle/stream_idle.h"
#include "model/analysis/rule.h"
#include "model/import/open_trace.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

std::shared_ptr<const Trace> open(const std::filesystem::path& path) {
  const auto trace = open_trace(path);
  INFO(path.string());
  REQUIRE(trace.has_value());
  return *trace;
}

nlohmann::json expected_of(const std::filesystem::path& corpus, const std::string& name) {
  std::ifstream file(corpus / "expected" / (name + ".hta.json"));
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

// If there are several steps, that tool leaves out the last one of the profiler: GPU work that was launched after it started, or by no call.
std::shared_ptr<const Trace> without_last_step(const Trace& trace) {
  std::vector<Nanoseconds> steps;
  for (const Track& track : trace.tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size() && track.key.kind == TrackKind::kNvtxRanges; ++i)
        if (trace.name(trace.lane(id).name(i)).starts_with("ProfilerStep#")) steps.push_back(trace.lane(id).start(i));
  const Nanoseconds last = steps.size() > 1 ? *std::max_element(steps.begin(), steps.end()) : std::numeric_limits<Nanoseconds>::max();
  TraceBuilder builder;
  for (ProcessId id = 0; id < trace.processes().size(); ++id)
    builder.process(builder.process_of_instance(trace.processes()[id].instance)) = trace.processes()[id];
  for (const Thread& thread : trace.threads()) static_cast<void>(builder.thread(thread.process, thread.tid));
  for (const Gpu& gpu : trace.gpus()) static_cast<void>(builder.gpu(gpu));
  for (const Track& track : trace.tracks()) {
    std::vector<Event> events;
    for (const LaneId id : track.lanes) {
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) {
        const auto launch = is_gpu_work(track.key.kind) && steps.size() > 1 ? trace.launch_of({id, i}) : std::nullopt;
        if (is_gpu_work(track.key.kind) && steps.size() > 1 && (!launch || trace.event(*launch).start >= last)) continue;
        Event event = trace.lane(id).event(i);
        event.name = builder.intern(trace.name(event.name));
        event.detail = 0;
        events.push_back(event);
      }
    }
    builder.add(track.key, std::move(events));
  }
  return builder.snapshot();
}

double microseconds(Nanoseconds time) { return static_cast<double>(time) / 1e3; }

}  // namespace

TEST_CASE("all-reduces over memory that ranks share are communication, and their few blocks no fault") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  const auto trace = open(*corpus / "kineto" / "tracelens_b200_eager.json.gz");
  for (const Finding& finding : apply_rule(*trace, *parse_rule("small_grid"))->findings) CHECK_THAT(finding.title, !contains_text("multimem_all_reduce"));
  const RuleAnswer answered = *apply_rule(*trace, *parse_rule("comm_overlap"));
  REQUIRE(answered.tables.size() == 1);
  const stats::Column& communication = answered.tables.front().table.columns()[4];
  CHECK(communication.title == "Communication");
  // 73 launches of multimem_all_reduce_kernel, 2.12 ms in the file, in addition to those of NCCL, 0.02 ms.
  CHECK(static_cast<double>(communication.integer(0)) == Approx(2'141'501).epsilon(0.001));
}

TEST_CASE("the causes of every export add up to the idle time of its GPUs") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  for (const char* name :
       {"fuser_h100", "pipit_cloverleaf", "nsightful_power_iteration", "nsysai_h100_2gpu_1s", "testcuda_4streams", "rodinia_gaussian", "cestwc_osrt"}) {
    const auto trace = open(*corpus / "nsys" / (std::string(name) + ".sqlite"));
    std::map<GpuId, Nanoseconds> sums;
    const auto gpus = visit_idle(*trace, 10'000, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
      Nanoseconds at = gap.range.begin;
      for (const IdlePart& part : parts) {
        REQUIRE(part.range.begin == at);
        at = part.range.end;
        sums[gap.gpu] += part.range.length();
      }
      REQUIRE(at == gap.range.end);
    });
    REQUIRE_FALSE(gpus.empty());
    for (const GpuIdle& gpu : gpus) CHECK(sums[gpu.gpu] + gpu.short_idle == gpu.idle);
  }
}

TEST_CASE("idle time of an export is what lies between the operations that another tool lists") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  std::ifstream file(*corpus / "expected" / "pipit_cloverleaf.gpu_trace.csv");
  REQUIRE(file);
  std::vector<TimeRange> operations;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::stringstream row(line + ",");
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    const std::size_t n = cells.size();  // names may contain commas, so columns are counted from the end
    if (n < 12 || cells[n - 7] != "Enter") continue;
    operations.push_back({std::stoll(cells[n - 6]), std::stoll(cells[n - 4])});
  }
  REQUIRE(operations.size() == 1591);
  std::sort(operations.begin(), operations.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  Nanoseconds idle = 0, end = operations.front().begin;
  for (const TimeRange& operation : operations) {
    idle += std::max<Nanoseconds>(0, operation.begin - end);
    end = std::max(end, operation.end);
  }
  const auto trace = open(*corpus / "nsys" / "pipit_cloverleaf.sqlite");
  const auto gpus = visit_idle(*trace, 10'000, [](const IdleGap&, std::span<const IdlePart>) {});
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].operations == 1591);
  CHECK(gpus[0].idle == idle);
  CHECK(gpus[0].extent == TimeRange{operations.front().begin, end});
}

TEST_CASE("idle time, and its causes by stream, are those of HolisticTraceAnalysis") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  const std::string name = GENERATE("hta_nccl_a100", "hta_ns_resolution", "hta_trace_diff_control", "kineto_resnet50_w0", "tracelens_h100_bert",
                                    "tracelens_h100_nsfw", "tracelens_h100_owlv2");
  INFO(name);
  const auto trace = without_last_step(*open(*corpus / "kineto" / (name + ".json.gz")));
  const nlohmann::json expected = expected_of(*corpus, name);
  Nanoseconds idle = 0, span = 0;
  for (const GpuIdle& gpu : visit_idle(*trace, 10'000, [](const IdleGap&, std::span<const IdlePart>) {})) {
    idle += gpu.idle;
    span += gpu.extent.length();
  }
  CHECK(microseconds(idle) == Approx(expected["temporal_breakdown"][0]["idle_time(us)"].get<double>()).margin(1).epsilon(1e-4));
  CHECK(microseconds(span) == Approx(expected["temporal_breakdown"][0]["kernel_time(us)"].get<double>()).margin(1).epsilon(1e-4));
  std::map<std::pair<std::uint32_t, std::string>, double> by_stream;
  for (const StreamIdle& stream : break_down_stream_idle(*trace, LaunchIndex(*trace))) {
    by_stream[{stream.stream, "host_wait"}] += microseconds(stream.host_wait);
    by_stream[{stream.stream, "kernel_wait"}] += microseconds(stream.kernel_wait);
    by_stream[{stream.stream, "other"}] += microseconds(stream.other);
  }
  // That tool stores µs since 1970 as doubles, so its times are multiples of a quarter µs; ours are exact. In this trace calls start within a quarter µs of an
  // operation's end, and gaps of some µs each change their class.
  const double margin = name == "hta_ns_resolution" ? 60 : 1;
  double all = 0;
  for (const auto& row : expected["idle_time_breakdown"]) {
    INFO(row.dump());
    const double ours = by_stream[{row["stream"].get<std::uint32_t>(), row["idle_category"].get<std::string>()}];
    CHECK(ours == Approx(row["idle_time"].get<double>()).margin(margin).epsilon(1e-4));
    all += row["idle_time"].get<double>() - ours;
  }
  CHECK(all == Approx(0).margin(2));
}

TEST_CASE("the share of communication that hides is that of HolisticTraceAnalysis") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  const std::string name = GENERATE("hta_nccl_a100", "hta_trace_diff_control");
  const auto trace = without_last_step(*open(*corpus / "kineto" / (name + ".json.gz")));
  const double expected = expected_of(*corpus, name)["comm_comp_overlap"][0]["comp_comm_overlap_pctg"].get<double>();
  const auto request = parse_rule("comm_overlap");
  const auto answer = apply_rule(*trace, *request);
  REQUIRE(answer.has_value());
  REQUIRE(answer->tables.size() == 1);
  const stats::Table& table = answer->tables.front().table;
  Nanoseconds communication = 0, hidden = 0;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    communication += std::get<stats::Integers>(table.columns()[4].values)[row];
    hidden += std::get<stats::Integers>(table.columns()[6].values)[row];
  }
  CHECK(100.0 * static_cast<double>(hidden) / static_cast<double>(communication) == Approx(expected).margin(0.01));
}
