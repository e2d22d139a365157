// A saved part of a recording's time gives the same answers as the whole recording does for that time.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "answers.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/analysis/idle/idle.h"
#include "model/export/trace_file_export.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/load.h"
#include "scenario.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

// What each GPU ran, by GPU number: from the first operation that starts to the last one that ends.
std::map<std::uint32_t, TimeRange> extents_of_gpu_work(const Trace& trace) {
  std::map<std::uint32_t, TimeRange> extents;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      if (lane.size() == 0) continue;
      const TimeRange time{lane.start(0), lane.end(lane.size() - 1)};
      TimeRange& extent = extents.try_emplace(trace.gpus()[track.key.gpu].ordinal, time).first->second;
      extent = {std::min(extent.begin, time.begin), std::max(extent.end, time.end)};
    }
  }
  return extents;
}

// Idle time of a GPU by cause, call and innermost range.
using TimeByCause = std::map<std::tuple<std::string, std::string, std::string>, Nanoseconds>;
TimeByCause causes_within(const Trace& trace, std::uint32_t gpu, TimeRange time) {
  TimeByCause causes;
  visit_idle_within(trace, LaunchIndex(trace), time, 1, [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    if (trace.gpus()[gap.gpu].ordinal != gpu) return;
    for (const IdlePart& part : parts) {
      const std::string range = part.nvtx.valid() ? std::string(trace.name(trace.event(part.nvtx).name)) : std::string();
      causes[{std::string(idle_cause_key(part.cause)), std::string(trace.name(part.call)), range}] += part.range.length();
    }
  });
  std::erase_if(causes, [](const auto& each) { return each.second == 0; });
  return causes;
}

// The rows, sorted, because rows with equal keys stand in the order of the file.
std::vector<std::string> rows_of(const stats::Table& table) {
  std::istringstream text(stats::format_table(table, stats::Format::kCsv));
  std::vector<std::string> rows;
  for (std::string line; std::getline(text, line);) rows.push_back(line);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// 40 steps of 10 ms, each with a kernel of 6 ms that starts `behind` after its launch.
std::shared_ptr<const Trace> steps_of_10_ms(Nanoseconds behind, bool are_marked) {
  test::Scenario program;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds t = step * 10 * test::kMillisecond;
    if (are_marked) program.range("step " + std::to_string(step), t, t + 10 * test::kMillisecond - 1'000);
    program.kernel("k", t + test::kMillisecond, t + test::kMillisecond + 5'000, t + test::kMillisecond + behind, t + 7 * test::kMillisecond + behind);
    program.call("cudaEventRecord", t + 9 * test::kMillisecond, t + 9 * test::kMillisecond + 5'000);
  }
  return program.trace();
}

// The part of the time that is saved.
std::shared_ptr<const Trace> saved_part_of(const Trace& whole, TimeRange time) {
  ExportSelection selection;
  selection.window = time;
  const test::TemporaryFolder folder;
  REQUIRE(export_trace_file(whole, folder.path() / "part.trace", Overwrite::kRefuse, selection, FileForm::kLog));
  const auto part = load_trace(folder.path() / "part.trace");
  REQUIRE(part);
  return *part;
}

const DiffItem& compared_item(const TraceDiff& diff, DiffKind kind, std::string_view name) {
  const auto found = std::find_if(diff.items.begin(), diff.items.end(), [&](const DiffItem& one) { return one.kind == kind && one.name == name; });
  REQUIRE(found != diff.items.end());
  return *found;
}

}  // namespace

TEST_CASE("of a saved part, iterations count that lie in it with all their work") {
  const TimeRange time{105 * test::kMillisecond, 305 * test::kMillisecond};  // cuts steps 10 and 30
  const auto check = [&](Nanoseconds behind, std::size_t whole_steps) {
    const auto part = saved_part_of(*steps_of_10_ms(behind, true), time);
    const Result<TraceDiff> diff = compare_traces(*part, *part);
    REQUIRE(diff);
    CHECK(diff->first_iterations == whole_steps);
    CHECK(compared_item(*diff, DiffKind::kDuration, "Iteration").first.per_iteration == 10 * test::kMillisecond - 1'000);
    CHECK(compared_item(*diff, DiffKind::kKernel, "k").first.count == whole_steps);
    CHECK(compared_item(*diff, DiffKind::kKernel, "k").first.per_iteration == 6 * test::kMillisecond);
    CHECK(compared_item(*diff, DiffKind::kApi, "cudaEventRecord").first.count == whole_steps);
  };
  check(test::kMillisecond, 19);       // 11 to 29
  check(25 * test::kMillisecond, 17);  // the kernels of 28 and 29 start after the part; those of 8 to 10 are in it, and their ranges are kept with it

  // From kernel to kernel, calls are counted from launch to launch; not all launches before the part are there.
  const auto part = saved_part_of(*steps_of_10_ms(25 * test::kMillisecond, false), time);
  const Result<TraceDiff> diff = compare_traces(*part, *part);
  REQUIRE(diff);
  CHECK(diff->repeating_work == "k");
  CHECK(compared_item(*diff, DiffKind::kApi, "cudaEventRecord").first.count == diff->first_iterations);
  CHECK(compared_item(*diff, DiffKind::kApi, "cudaLaunchKernel").first.count == diff->first_iterations);
}

TEST_CASE("what a communication kernel did in front of a saved part is not exposed in it") {
  // A kernel of a collective from 0 to 100 ms, beside kernels that compute until 50 ms; the part begins at 40 ms.
  test::Scenario program;
  const Nanoseconds ms = test::kMillisecond;
  program.kernel("ncclDevKernel_AllReduce", 0, 5'000, 10'000, 100 * ms, 20);
  for (int i = 0; i < 5; ++i) program.kernel("gemm", i * 10 * ms + 6'000, i * 10 * ms + 11'000, i * 10 * ms + (i == 0 ? 12'000 : 0), (i + 1) * 10 * ms);
  program.kernel("gemm", 100 * ms, 100 * ms + 5'000, 101 * ms, 120 * ms);
  const auto part = saved_part_of(*program.trace(), {40 * ms, 120 * ms});
  const analysis::RuleAnswer overlap = test::answer(*part, "comm_overlap");
  const stats::Table& ranks = test::table_named(overlap, "comm_overlap");
  REQUIRE(ranks.row_count() == 1);
  CHECK(test::integer(ranks, 0, "Communication") == 60 * ms);
  CHECK(test::integer(ranks, 0, "Exposed") == 50 * ms);
}

TEST_CASE("a saved part says why GPUs were idle as the whole does of that time, also where its work was launched before") {
  const auto name = GENERATE(as<std::string>(), "cause_stream_wait", "cause_lock", "cause_sync_each_launch", "torch_training_workers0", "torch_graph",
                             "cuda_streams", "transformer_tf32", "ranks_compute", "jax_training", "unified_memory");
  const auto tenth = GENERATE(1, 4, 6, 8);
  const auto form = GENERATE(FileForm::kLog, FileForm::kCompacted);
  INFO(name << ", from " << tenth << " tenths on");
  const auto whole = load_trace(test::data_file(name + ".trace"));
  REQUIRE(whole);
  TimeRange work = extents_of_gpu_work(**whole).begin()->second;
  for (const auto& [gpu, extent] : extents_of_gpu_work(**whole)) work = {std::min(work.begin, extent.begin), std::max(work.end, extent.end)};
  ExportSelection selection;
  selection.window = TimeRange{work.begin + work.length() * tenth / 10, work.begin + work.length() * (tenth + 2) / 10};
  const test::TemporaryFolder folder;
  REQUIRE(export_trace_file(**whole, folder.path() / "part.trace", Overwrite::kRefuse, selection, form));
  const auto part = load_trace(folder.path() / "part.trace");
  REQUIRE(part);
  for (const auto& [gpu, kept] : extents_of_gpu_work(**part)) {
    const TimeByCause of_part = causes_within(**part, gpu, kept), of_whole = causes_within(**whole, gpu, kept);
    CHECK(of_part.size() == of_whole.size());
    for (const auto& [cause, time] : of_whole) {
      INFO("GPU " << gpu << ", " << std::get<0>(cause) << ", " << std::get<1>(cause) << ", " << std::get<2>(cause));
      const auto same = of_part.find(cause);
      CHECK((same == of_part.end() ? 0 : same->second) == time);
    }
  }

  // Only calls and ranges may lie outside the time.
  for (const Track& track : (*part)->tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < (*part)->lane(id).size(); ++i) {
        const Event event = (*part)->lane(id).event(i);
        const bool is_of_time = event.start < selection.window->end && (event.end() > selection.window->begin || event.start >= selection.window->begin);
        const TrackKind kind = track.key.kind;
        CHECK(
            (is_of_time || kind == TrackKind::kCudaApi || kind == TrackKind::kNvtxRanges || kind == TrackKind::kBacktraces || kind == TrackKind::kProcessors));
      }
}

TEST_CASE("reports of a saved part are those of the whole of that time, whatever was kept beside it") {
  const auto name = GENERATE(as<std::string>(), "torch_loader_samples", "cause_stream_wait", "cause_lock", "cuda_streams", "torch_training_workers4",
                             "unified_memory", "ranks_compute", "jax_training");
  const auto tenth = GENERATE(1, 5, 8);
  const auto form = GENERATE(FileForm::kLog, FileForm::kCompacted);
  INFO(name << ", from " << tenth << " tenths on");
  const auto whole = load_trace(test::data_file(name + ".trace"));
  REQUIRE(whole);
  const TimeRange all = (*whole)->extent();
  ExportSelection selection;
  selection.window = TimeRange{all.begin + all.length() * tenth / 10, all.begin + all.length() * (tenth + 2) / 10};
  const test::TemporaryFolder folder;
  REQUIRE(export_trace_file(**whole, folder.path() / "part.trace", Overwrite::kRefuse, selection, form));
  const auto part = load_trace(folder.path() / "part.trace");
  REQUIRE(part);
  if ((*part)->event_count() == 0) return;  // nothing was recorded in that time
  CHECK((*part)->scope() == *selection.window);
  stats::ReportOptions of_time;
  of_time.time_range = selection.window;
  for (const stats::Report& report : stats::reports()) {
    // Idle time lies between operations; what a GPU did before the part is not known in the part.
    if (report.name == "gpu_idle_sum") continue;
    INFO(report.name);
    const auto expected = stats::make_report(report, **whole, of_time), found = stats::make_report(report, **part, {});
    REQUIRE((expected && found));
    CHECK(rows_of(*found) == rows_of(*expected));
  }

  // A part of the part lies within both times.
  const TimeRange middle{all.begin + all.length() * (tenth + 1) / 10, all.begin + all.length() * (tenth + 2) / 10};
  ExportSelection again;
  again.window = TimeRange{middle.begin, all.end};
  REQUIRE(export_trace_file(**part, folder.path() / "again.trace", Overwrite::kRefuse, again, form));
  const auto half = load_trace(folder.path() / "again.trace");
  REQUIRE(half);
  CHECK((*half)->scope() == middle);
  REQUIRE(export_trace_file(**half, folder.path() / "copy.trace", Overwrite::kRefuse, {}, form));
  const auto copy = load_trace(folder.path() / "copy.trace");
  REQUIRE(copy);
  CHECK((*copy)->scope() == middle);
}
