// Counters of kernels in a trace: from frames to what the program could gain by them, with values that were chosen.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "lanescope/kernel_metrics.pb.h"
#include "model/analysis/findings_table.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/idle/launches_at_once.h"
#include "model/analysis/rule.h"
#include "model/events/launch_index.h"
#include "model/export/trace_file_export.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/stats/report.h"
#include "model/stats/selection.h"
#include "model/trace/combining/combine.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "recording.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr auto kMetricsFrame = static_cast<proto::FrameType>(proto::FRAME_KERNEL_METRICS);

// strided: three launches of 1 ms, and one of 2 ms with another grid; tidy: 4 ms. Correlations 1 to 5.
proto::EventChunk launches() {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_string(1);
  chunk.add_strings("_Z7stridedPf");
  chunk.add_strings("_Z4tidyPf");
  chunk.set_first_shape(1);
  for (const std::uint32_t blocks : {13'200u, 26'400u}) {
    auto* shape = chunk.add_launch_shapes();
    shape->set_grid_x(blocks);
    shape->set_grid_y(1);
    shape->set_grid_z(1);
    shape->set_block_x(256);
    shape->set_block_y(1);
    shape->set_block_z(1);
    shape->set_registers_per_thread(16);
  }
  chunk.set_first_queue(1);
  auto* queue = chunk.add_queues();
  queue->set_context(1);
  queue->set_stream(7);
  auto* kernels = chunk.mutable_kernels();
  struct Launch {
    std::int64_t delta, milliseconds;
    std::uint32_t name, shape;
  };
  for (const auto& [delta, milliseconds, name, shape] : {Launch{0, 1, 1, 1}, {10, 1, 1, 1}, {10, 1, 1, 1}, {10, 2, 1, 2}, {10, 4, 2, 1}}) {
    kernels->add_start_delta(delta * kMillisecond);
    kernels->add_duration(static_cast<std::uint64_t>(milliseconds * kMillisecond));
    kernels->add_name(name);
    kernels->add_queue(1);
    kernels->add_correlation_delta(1);
    kernels->add_shape(shape);
  }
  return chunk;
}

// Counters of the second launch, and of tidy's: DRAM is used to 85 %; strided uses 4 of each 32 B.
proto::KernelMetrics counters() {
  proto::KernelMetrics message;
  for (const char* metric : {"gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                             "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                             "lts__throughput.avg.pct_of_peak_sustained_elapsed", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"})
    message.add_metrics(metric);
  for (const auto& [correlation, bytes] : {std::pair(2u, 4.0), std::pair(5u, 32.0)}) {
    auto* launch = message.add_launches();
    launch->set_correlation(correlation);
    launch->set_replay(proto::KERNEL_REPLAY_SPREAD);
    launch->set_passes(2);
    launch->add_other_launches(1);
    launch->set_spent(20 * kMillisecond);
    for (const double value : {1e6, 6.0, 85.0, 85.0, 77.0, bytes}) launch->add_values(value);
  }
  auto* left_out = message.add_left_out();
  left_out->set_kernel("_Z9reductionPf");
  left_out->set_reason("It is cooperative.");
  return message;
}

std::shared_ptr<const Trace> recorded() {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, launches());
  recording.add(kMetricsFrame, 1, proto::SOURCE_AGENT, counters());
  CHECK(recording.malformed() == 0);
  return recording.trace();
}

constexpr double kGain = (1 - 4.0 / 32) * 0.85;  // the unused share of a sector, times the share of DRAM that is busy

}  // namespace

TEST_CASE("a measured launch stands for all launches of its kernel and shape") {
  const auto trace = recorded();
  const kernels::RecordedMetrics all = kernels::recorded_metrics(*trace);
  REQUIRE(all.measurements.size() == 2);
  CHECK(all.metrics.kernels()[0].name == "strided(float*)");
  CHECK(all.measurements[0].of_its_kind.count == 3);
  CHECK(all.measurements[0].of_its_kind.time == 3 * kMillisecond);
  CHECK(all.weight(0) == 3 * kMillisecond);
  CHECK(all.measurements[0].launches == 2);
  CHECK(all.measurements[0].replay == KernelReplay::kSpread);
  CHECK(all.measurements[0].spent == 20 * kMillisecond);
  CHECK(trace->event(all.measurements[0].event).start == 10 * kMillisecond);
  CHECK(all.one_of_each() == std::vector<std::size_t>{1, 0});
  REQUIRE(all.left_out.size() == 1);
  CHECK(all.left_out[0].name == "reduction(float*)");
}

TEST_CASE("a measured launch is found, and those like it are counted, in the segments that may have them alone") {
  TraceBuilder builder;
  builder.provenance().finished = true;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 1;
  const GpuId gpu = builder.gpu({.name = "GPU", .uuid = "1"});
  builder.set_device(process, 0, {.name = "GPU", .uuid = "1"});
  constexpr std::uint32_t kKernels = 4 * LaneSegment::kCapacity, kRare = 2 * LaneSegment::kCapacity + 7;  // the latter lies in the third segment
  const NameId usual = builder.intern("usual"), rare = builder.intern("rare"), other = builder.intern("other");
  for (const std::uint32_t stream : {7u, 8u}) {
    std::vector<Event> kernels;
    for (std::uint32_t i = 0; i < kKernels; ++i) {
      const NameId name = stream == 8 ? other : i == kRare || i == kRare + 2 ? rare : usual;
      kernels.push_back({Nanoseconds{i} * 1'000, 500, name, (stream - 7) * kKernels + i + 1, 0});
    }
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = stream}, std::move(kernels));
  }
  builder.add(MeasuredLaunch{process, kRare + 1, KernelReplay::kKernel, 1, {}, 0, {}});
  const test::TemporaryFolder folder;
  REQUIRE(export_trace_file(*builder.snapshot(), folder.path() / "log.trace", Overwrite::kAllow));
  REQUIRE(compact_trace_file(folder.path() / "log.trace", folder.path() / "compact.trace", Overwrite::kAllow));
  const auto trace = load_trace(folder.path() / "compact.trace", {}, EventPlace::kInFile);
  REQUIRE(trace);
  const std::uint64_t before = SegmentCache::of_process().use().decoded;
  const kernels::RecordedMetrics recorded = kernels::recorded_metrics(**trace);
  CHECK(SegmentCache::of_process().use().decoded - before == 1);
  REQUIRE(recorded.measurements.size() == 1);
  CHECK((**trace).event(recorded.measurements[0].event).correlation == kRare + 1);
  CHECK((recorded.measurements[0].of_its_kind.count == 2 && recorded.measurements[0].of_its_kind.time == 1'000));
}

TEST_CASE("only the launch that was measured says what its counters say") {
  const auto trace = recorded();
  const LaneId lane = trace->tracks().front().lanes.front();
  CHECK(!kernels::is_measured(*trace, {lane, 0}));
  CHECK(!kernels::verdict_of(*trace, {lane, 0}));
  const auto verdict = kernels::verdict_of(*trace, {lane, 1});
  REQUIRE(verdict);
  CHECK(verdict->bound == kernels::Bound::kDram);
  CHECK(verdict->dram == 85);
  CHECK(verdict->compute == 6);
  REQUIRE(!verdict->advice.empty());
  CHECK(verdict->advice.front().rule == "global_access");
  CHECK(verdict->advice.front().gain == Approx(kGain));
}

TEST_CASE("the rule ranks what kernels could win in all their launches") {
  const auto trace = recorded();
  const auto answer = analysis::apply_rule(*trace, *analysis::parse_rule("kernel_bounds"));
  REQUIRE(answer);
  REQUIRE(answer->findings.size() == 1);  // tidy uses all that it moves
  const analysis::Finding& finding = answer->findings.front();
  CHECK(finding.key == "global_access");
  CHECK(finding.cost == Approx(kGain * 3 * kMillisecond).margin(1));
  CHECK(finding.title.english() ==
        "Kernel strided is bound by DRAM bandwidth (85.0 % of its peak), and could save up to 2.23 ms: scattered access to global memory.");
  CHECK_THAT(finding.seen, contains_text("3 runs of this shape took 3.00 ms, 33 % of the time of all kernels."));
  CHECK(trace->event(finding.place.event).start == 10 * kMillisecond);
  REQUIRE(answer->tables.size() == 1);
  CHECK(answer->tables.front().table.row_count() == 2);

  const auto none = analysis::apply_rule(*trace, *analysis::parse_rule("kernel_bounds:share=50"));
  REQUIRE(none);
  CHECK(none->findings.empty());
}

namespace {

// Each of two processes launches "scattered" for 2 ms, of which 1 ms is at the same time: 3 ms of 4 ms.
std::shared_ptr<const Trace> on_a_shared_gpu() {
  TraceBuilder builder;
  const ProcessId measured = builder.process_of_instance(1), other = builder.process_of_instance(2);
  const GpuId gpu = builder.gpu_of_device(measured, 0);
  KernelDetail shape;
  shape.grid[0] = 13'200;
  shape.block[0] = 256;
  const DetailId detail = builder.intern(shape);
  const NameId name = builder.intern("scattered");
  const auto launch = [&](ProcessId process, Nanoseconds start) {
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7}, {Event{start, 2 * kMillisecond, name, 1, detail}});
  };
  launch(measured, 0);
  launch(other, kMillisecond);
  MeasuredLaunch counters{measured, 1, KernelReplay::kOnePass, 1, {}, 0, {}};
  for (const auto& [metric, value] :
       {std::pair("gpu__time_duration.sum", 2e6), std::pair("sm__throughput.avg.pct_of_peak_sustained_elapsed", 6.0),
        std::pair("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 85.0),
        std::pair("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 85.0), std::pair("lts__throughput.avg.pct_of_peak_sustained_elapsed", 77.0),
        std::pair("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 4.0)})
    counters.values.push_back({builder.kernel_metric(metric), value});
  builder.add(std::move(counters));
  return builder.snapshot();
}

const stats::Column& column_of(const stats::Table& table, std::string_view title) {
  return *std::find_if(table.columns().begin(), table.columns().end(), [&](const stats::Column& each) { return each.title == title; });
}

}  // namespace

TEST_CASE("where processes share a GPU, a kernel could win the time that its launches cover there, and no more") {
  const auto trace = on_a_shared_gpu();
  const auto answer = analysis::apply_rule(*trace, *analysis::parse_rule("kernel_bounds"));
  REQUIRE(answer);
  REQUIRE(answer->findings.size() == 1);
  CHECK(answer->findings.front().cost == Approx(kGain * 2 * kMillisecond * 3 / 4).margin(1));
  CHECK_THAT(answer->findings.front().seen, contains_text("at most 75 % of what they take together can be won."));
  const Event launch = trace->event(EventRef{trace->tracks().front().lanes.front(), 0});
  const std::array asked{analysis::KernelOnGpu{0, launch.name}, analysis::KernelOnGpu{kNone, launch.name}, analysis::KernelOnGpu{0, launch.name + 1}};
  CHECK(analysis::shares_at_once(*trace, asked) == std::vector<double>{0.75, 1, 1});
  // Cut at 2.5 ms: 3.5 ms of launches cover 2.5 ms.
  CHECK(analysis::shares_at_once(*trace, asked, {0, 5 * kMillisecond / 2}).front() == Approx(2.5 / 3.5));
  const auto report = stats::make_report(*stats::find_report("kernel_metrics"), *trace);
  REQUIRE(report);
  CHECK(column_of(*report, "Winnable at Most").integer(0) == Approx(kGain * 2 * kMillisecond * 3 / 4).margin(1));
}

TEST_CASE("the shapes of one kernel are told apart where several were measured") {
  proto::KernelMetrics both = counters();
  auto* const other = both.add_launches();
  *other = both.launches(0);
  other->set_correlation(4);  // the launch of 2 ms with the larger grid
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, launches());
  recording.add(kMetricsFrame, 1, proto::SOURCE_AGENT, both);
  const auto answer = analysis::apply_rule(*recording.trace(), *analysis::parse_rule("kernel_bounds"));
  REQUIRE(answer);
  REQUIRE(answer->findings.size() == 2);  // 3 ms, and 2 ms
  CHECK_THAT(answer->findings[0].title, contains_text("Kernel strided (grid 13200 × 1 × 1, block 256 × 1 × 1) is bound by"));
  CHECK_THAT(answer->findings[1].title, contains_text("Kernel strided (grid 26400 × 1 × 1, block 256 × 1 × 1) is bound by"));
  const stats::Table& table = answer->tables.front().table;
  REQUIRE(table.row_count() == 3);
  CHECK(table.text(column_of(table, "GridXYZ").text(0)) == "13200 1 1");
  CHECK(table.text(column_of(table, "GridXYZ").text(1)) == "26400 1 1");
  CHECK(table.text(column_of(table, "BlockXYZ").text(1)) == "256 1 1");
}

TEST_CASE("of a time a kernel could win no more than its launches took in it") {
  const auto trace = recorded();
  // The second of the three launches was measured: 1 ms at 10 ms.
  const auto rule = analysis::parse_rule("kernel_bounds");
  REQUIRE(rule);
  const auto answers = analysis::apply_rules(*trace, std::span(&*rule, 1), {}, TimeRange{9 * kMillisecond, 19 * kMillisecond});
  REQUIRE(answers);
  REQUIRE(answers->front().findings.size() == 1);
  const analysis::Finding& finding = answers->front().findings.front();
  CHECK(finding.cost == Approx(kGain * kMillisecond).margin(1));
  CHECK_THAT(finding.seen, contains_text("1 run of this shape took 1.00 ms, 100 % of the time of all kernels."));
}

TEST_CASE("of a time, each kernel is told of that was measured in it, whichever of its launches is usual in the whole recording") {
  const std::filesystem::path file = test::data_file("transformer_fp32.trace");
  const auto trace = load_trace(file);
  REQUIRE(trace);
  std::size_t steps = 0;
  for (const Track& track : (*trace)->tracks())
    for (const LaneId id : track.lanes) {
      const Lane& lane = (*trace)->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (track.key.kind != TrackKind::kNvtxRanges || !(*trace)->name(lane.name(i)).starts_with("step ")) continue;
        const TimeRange step{lane.start(i), lane.end(i)};
        // By hand: names and shapes of the launches that start in the step and whose counters were read.
        std::set<std::tuple<NameId, std::vector<std::uint32_t>>> kinds;
        for (const Track& kernels : (*trace)->tracks())
          for (const LaneId of_kernels : kernels.key.kind == TrackKind::kKernels ? kernels.lanes : std::vector<LaneId>())
            for (EventIndex k = 0; k < (*trace)->lane(of_kernels).size(); ++k) {
              const Event kernel = (*trace)->event({of_kernels, k});
              if (!step.contains(kernel.start) || !kernels::is_measured(**trace, {of_kernels, k})) continue;
              const KernelDetail& shape = (*trace)->kernel_detail(kernel.detail);
              kinds.insert(
                  {kernel.name, {shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1], shape.block[2], shape.dynamic_shared_memory}});
            }
        if (kinds.empty()) continue;
        ++steps;
        const auto rule = analysis::parse_rule("kernel_bounds");
        const auto answers = analysis::apply_rules(**trace, std::span(&*rule, 1), {}, step);
        REQUIRE(answers);
        REQUIRE(answers->front().tables.size() == 1);
        CHECK(answers->front().tables.front().table.row_count() == kinds.size());
      }
    }
  CHECK(steps >= 4);
}

TEST_CASE("a counter that says a kernel took longer than it did makes it win no more") {
  proto::KernelMetrics message = counters();
  for (auto& launch : *message.mutable_launches()) launch.set_values(0, 1e15);
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, launches());
  recording.add(kMetricsFrame, 1, proto::SOURCE_AGENT, message);
  const kernels::RecordedMetrics all = kernels::recorded_metrics(*recording.trace());
  CHECK(all.weight(0) == 3 * kMillisecond);
}

TEST_CASE("without counters the rule says how to record them") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, launches());
  const auto answer = analysis::apply_rule(*recording.trace(), *analysis::parse_rule("kernel_bounds"));
  REQUIRE(answer);
  CHECK_THAT(answer->message, contains_text("--kernels=counters"));
}

TEST_CASE("the report has a row for each launch that was measured") {
  const auto trace = recorded();
  const auto request = stats::parse_report("kernel_metrics", {});
  REQUIRE(request);
  const stats::ReportSeries series(*trace);
  const auto table = series.make(*request->report, request->options);
  REQUIRE(table);
  REQUIRE(table->row_count() == 2);
  const auto column = [&](std::string_view name) -> const stats::Column& {
    return *std::find_if(table->columns().begin(), table->columns().end(), [&](const stats::Column& each) { return each.title == name; });
  };
  CHECK(column("Winnable at Most").integer(0) == Approx(kGain * 3 * kMillisecond).margin(1));
  CHECK(column("Launches").integer(0) == 3);
  CHECK(column("Duration").integer(0) == kMillisecond);
  CHECK(column("DRAM").real(1) == 85);
  CHECK(column("Passes").integer(1) == 2);
}

TEST_CASE("counters survive an export, and come together where traces do") {
  const auto trace = recorded();
  const test::TemporaryFolder folder;
  REQUIRE(export_trace_file(*trace, folder.path() / "kernels.trace", Overwrite::kAllow));
  const auto again = load_trace(folder.path() / "kernels.trace");
  REQUIRE(again);
  const KernelRecords& before = trace->kernel_records();
  const KernelRecords& after = (*again)->kernel_records();
  CHECK(after.metrics == before.metrics);
  REQUIRE(after.measured.size() == 2);
  REQUIRE(after.measured[0]->values.size() == 6);
  CHECK(after.measured[0]->values[5].value == before.measured[0]->values[5].value);
  CHECK(after.measured[0]->other_launches == std::vector<std::uint32_t>{1});
  REQUIRE(after.left_out.size() == 1);
  CHECK(after.left_out[0].reason == "It is cooperative.");

  const std::vector<TraceSource> sources{{trace, "A", 0}, {*again, "B", 0}};
  const auto both = combine_traces(sources);
  REQUIRE(both);
  const kernels::RecordedMetrics all = kernels::recorded_metrics(*both);
  CHECK(all.measurements.size() == 4);
  CHECK(all.measurements[2].of_its_kind.count == 3);  // of the kernel's own process
}

TEST_CASE("a rate of hits is of the hits and misses that were counted, where both were and few missed") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, launches());
  proto::KernelMetrics message;
  for (const char* metric : {"gpu__time_duration.sum", "lts__t_sector_hit_rate.pct", "lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum",
                             "l1tex__t_sector_hit_rate.pct"})
    message.add_metrics(metric);
  for (const auto& [correlation, misses] : {std::pair(2u, 1.0), std::pair(5u, 500.0)}) {
    auto* launch = message.add_launches();
    launch->set_correlation(correlation);
    launch->set_passes(2);
    for (const double value : {1e6, 96.8, 999.0, misses, 33.0}) launch->add_values(value);
  }
  recording.add(kMetricsFrame, 1, proto::SOURCE_AGENT, message);
  const auto trace = recording.trace();
  const kernels::RecordedMetrics all = kernels::recorded_metrics(*trace);
  REQUIRE(all.metrics.kernels().size() == 2);
  CHECK(all.metrics.value(all.metrics.kernels()[0], "lts__t_sector_hit_rate.pct") == Approx(99.9));
  CHECK(all.metrics.value(all.metrics.kernels()[1], "lts__t_sector_hit_rate.pct") == 96.8);  // a sector may be missed several times
  CHECK(all.metrics.value(all.metrics.kernels()[0], "l1tex__t_sector_hit_rate.pct") == 33.0);
}

TEST_CASE("launches whose values are not as many as metrics are no counters") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, launches());
  proto::KernelMetrics uneven = counters();
  uneven.mutable_launches(0)->add_values(1);
  recording.add(kMetricsFrame, 1, proto::SOURCE_AGENT, uneven);
  CHECK(recording.malformed() == 1);
  CHECK(recording.trace()->kernel_records().measured.size() == 1);  // the launch of the other process
}

TEST_CASE("what the GPU waits for while counters are read is the profiler's doing") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 1);
  const GpuId gpu = builder.gpu_of_device(process, 0);
  const NameId launch = builder.intern("cudaLaunchKernel"), kernel = builder.intern("strided");
  const TrackKey calls{.kind = TrackKind::kCudaApi, .process = process, .thread = thread};
  const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Nanoseconds begin = i * 30 * kMillisecond;
    builder.add(calls, {Event{begin, 29 * kMillisecond, launch, i + 1, 0}});
    builder.add(kernels, {Event{begin + 28 * kMillisecond, kMillisecond, kernel, i + 1, 0}});
  }
  // The second launch was measured, and the third for another pass over the same counters.
  builder.add(MeasuredLaunch{process, 2, KernelReplay::kSpread, 2, {3}, 56 * kMillisecond, {}});
  const auto trace = builder.snapshot();
  const LaunchIndex launches(*trace);
  std::map<analysis::IdleCause, Nanoseconds> by_cause;
  analysis::visit_idle(*trace, launches, 0, [&](const analysis::IdleGap&, std::span<const analysis::IdlePart> parts) {
    for (const analysis::IdlePart& part : parts) by_cause[part.cause] += part.range.length();
  });
  // Each gap is 29 ms: 1 ms in which no call was active, and 28 ms in the next launch.
  CHECK(by_cause[analysis::IdleCause::kOverhead] == 2 * 28 * kMillisecond);
  CHECK(by_cause[analysis::IdleCause::kLaunch] == 28 * kMillisecond);
}

TEST_CASE("a recording names the fault of each kernel of known faults, those first that cost most") {
  const auto trace = load_trace(test::data_file("kernel_counters.trace"));
  REQUIRE(trace);
  const auto answer = analysis::apply_rule(**trace, *analysis::parse_rule("kernel_bounds:share=0"));
  REQUIRE(answer);
  std::map<std::string, std::string> causes;
  Nanoseconds last = std::numeric_limits<Nanoseconds>::max();
  for (const analysis::Finding& finding : answer->findings) {
    const Event event = (*trace)->event(finding.place.event);
    causes[std::string((*trace)->name((*trace)->kernel_detail(event.detail).short_name))] = finding.key;
    CHECK(finding.cost <= last);
    last = finding.cost;
  }
  const std::map<std::string, std::string> faults{{"transpose_naive", "global_access"},
                                                  {"transpose_shared", "bank_conflicts"},
                                                  {"strided", "global_access"},
                                                  {"gemm_naive", "global_access"},
                                                  {"divergent", "divergence"},
                                                  {"atomics", "atomics"},
                                                  {"spill", "local_memory"},
                                                  {"fp64", "fp64"},
                                                  {"low_occ", "occupancy"},
                                                  {"small_grid", "small_grid"}};  // no other rule reports it
  for (const auto& [kernel, fault] : faults) {
    CAPTURE(kernel);
    CHECK(causes[kernel] == fault);
  }
  CHECK(kernels::recorded_metrics(**trace).measurements.size() == 12);
}

TEST_CASE("each kernel of known faults has its fault in one finding, whichever rule it is of, and the measuring is none") {
  const auto trace = load_trace(test::data_file("kernel_counters.trace"));
  REQUIRE(trace);
  std::vector<analysis::RuleRequest> requests;
  for (const analysis::Rule& rule : analysis::rules())
    if (rule.origin == analysis::RuleOrigin::kLanescope) requests.push_back(*analysis::parse_rule(rule.name));
  const auto answers = analysis::apply_rules(**trace, requests);
  REQUIRE(answers);
  std::size_t of_small_grid = 0;
  std::vector<analysis::Finding> all;
  for (const analysis::RuleAnswer& answer : *answers)
    for (const analysis::Finding& finding : answer.findings) {
      all.push_back(finding);
      CHECK_THAT(finding.advice.english(), !contains_text("preset light"));
      if (finding.place.event == EventRef() || (*trace)->name((*trace)->event(finding.place.event).name).find("small_grid") == std::string_view::npos ||
          finding.rule == "gpu_bubbles")
        continue;
      ++of_small_grid;
      CHECK(finding.rule == "small_grid");
      CHECK(finding.key.empty());
      const Event event = (*trace)->event(finding.place.event);
      CHECK(finding.cost == Approx(static_cast<double>(event.duration) * 124 / 132).margin(1));  // 8 of 132 multiprocessors have a block
    }
  CHECK(of_small_grid == 1);
  analysis::rank(all);
  REQUIRE(!all.empty());
  CHECK(all.front().rule == "kernel_bounds");
  CHECK_THAT(all.front().title.english(), contains_text("Kernel spill"));  // 59 % of the time of all kernels
  // Of a gap of 221 ms, all but some 0.4 ms went into reading counters.
  const auto idle = std::find_if(all.begin(), all.end(), [](const analysis::Finding& finding) { return finding.rule == "gpu_bubbles"; });
  REQUIRE(idle != all.end());
  CHECK_THAT(idle->seen, contains_text("In 1 gap of 221 ms, of which 220 ms went into reading the counters of kernels."));
  // Between the first and the last kernel, the GPU waited for nothing else that is worth reporting.
  CHECK_THAT(answers->front().summary.english(), contains_text("went into reading the counters of kernels."));
}

namespace {

// The verdict for a kernel with a grid of this many blocks on 132 multiprocessors, and these counters.
kernels::Verdict verdict_of(std::uint32_t blocks, const std::vector<std::pair<std::string, double>>& counters) {
  std::vector<kernels::Metric> metrics;
  kernels::ProfiledKernel kernel;
  kernel.gpu.compute_major = 9;
  kernel.gpu.multiprocessor_count = 132;
  kernel.detail.grid[0] = blocks;
  kernel.detail.block[0] = 256;
  kernel.detail.grid[1] = kernel.detail.grid[2] = kernel.detail.block[1] = kernel.detail.block[2] = 1;
  kernel.detail.registers_per_thread = 16;
  for (const auto& [metric, value] : counters) {
    metrics.push_back({metric, ""});
    kernel.values.push_back(value);
  }
  kernels::KernelMetrics all(metrics);
  all.add(kernel);
  return kernels::judge(all, all.kernels()[0]);
}
constexpr const char* kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kMemory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";

}  // namespace

TEST_CASE("the share of a peak is that of the unit that is named") {
  const auto text = [](std::uint32_t blocks, const std::vector<std::pair<std::string, double>>& counters) {
    return kernels::bound_text(verdict_of(blocks, counters)).english();
  };
  constexpr std::uint32_t kMany = 100'000;
  CHECK(text(kMany, {{kCompute, 89}, {kMemory, 82}, {kDram, 82}, {kL2, 40}}) == "DRAM bandwidth (82.0 % of its peak)");
  CHECK(text(kMany, {{kCompute, 95}, {kMemory, 82}, {kDram, 82}, {kL2, 40}}) == "compute (95.0 % of its peak)");
  CHECK(text(kMany, {{kCompute, 10}, {kMemory, 82}, {kDram, 40}, {kL2, 79}}) == "L2 cache (79.0 % of its peak)");
  CHECK(text(kMany, {{kCompute, 10}, {kMemory, 82}, {kDram, 40}, {kL2, 30}}) == "memory (82.0 % of its peak)");  // of a part that was not measured
  CHECK(text(kMany, {{kCompute, 26}, {kMemory, 12}, {kDram, 12}}) == "latency (no unit is used beyond 26.0 % of its peak)");
  CHECK(text(8, {{kCompute, 0.8}, {kMemory, 0.5}, {kDram, 0.5}}) == "small grid (no unit is used beyond 0.8 % of its peak)");
  CHECK(text(kMany, {{kCompute, 10}, {kMemory, 4'000}, {kDram, 4'000}}) == "DRAM bandwidth");  // no hardware reports this
  CHECK(text(kMany, {}) == "not measured");
}

TEST_CASE("what a kernel of one block could win is not known, to rules of shapes and of counters alike, and stands before its symptoms") {
  const kernels::Verdict verdict = verdict_of(1, {{kCompute, 0.4},
                                                  {kMemory, 0.2},
                                                  {"smsp__issue_active.avg.pct_of_peak_sustained_active", 10},
                                                  {"sm__cycles_elapsed.avg", 1e6},
                                                  {"sm__cycles_active.avg", 1e6 / 132},
                                                  {"smsp__average_warp_latency_per_inst_issued.ratio", 20},
                                                  {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 15}});
  REQUIRE(verdict.advice.size() >= 2);
  CHECK(verdict.bound == kernels::Bound::kSmallGrid);
  CHECK(verdict.advice[0].rule == "small_grid");
  CHECK_FALSE(verdict.advice[0].is_gain_known);
  CHECK(verdict.advice[0].gain == 0);
  CHECK(verdict.advice[1].is_gain_known);
}

TEST_CASE("what loads and stores have in common is said once") {
  const auto trace = load_trace(test::data_file("kernel_counters.trace"));
  REQUIRE(trace);
  const kernels::RecordedMetrics recorded = kernels::recorded_metrics(**trace);
  std::size_t strided = 0;
  for (const kernels::ProfiledKernel& kernel : recorded.metrics.kernels()) {
    if (!kernel.name.starts_with("strided")) continue;
    ++strided;
    CHECK(kernels::judge(recorded.metrics, kernel).advice.front().seen.english() ==
          "Of each sector of 32 B, loads use 4 B and stores 4 B, and such a request of a warp takes 32 sectors, one for each thread, as with a stride of 32 B "
          "or more.");
  }
  CHECK(strided == 1);
}

// One trace with counters from one run and counts of instructions from another. The program has each kernel on a line of its own.
TEST_CASE("a finding names the source line that costs most for its cause, by counts of another run") {
  const auto counters = load_trace(test::data_file("kernel_counters.trace")), counts = load_trace(test::data_file("zoo_counts.trace"));
  REQUIRE(counters);
  REQUIRE(counts);
  const auto both = combine_traces(std::vector<TraceSource>{{*counters, "A", 0}, {*counts, "B", 0}});
  const auto answer = analysis::apply_rule(*both, *analysis::parse_rule("kernel_bounds:share=0"));
  REQUIRE(answer);
  const std::map<std::string, std::string> known{{"transpose_naive", "zoo.cu:6"},
                                                 {"transpose_shared", "zoo.cu:7"},
                                                 {"strided", "zoo.cu:10"},
                                                 {"divergent", "zoo.cu:12"},
                                                 {"atomics", ""},
                                                 {"spill", "zoo.cu:14"},
                                                 {"fp64", "zoo.cu:15"},
                                                 {"low_occ", ""},
                                                 {"small_grid", ""}};
  std::size_t named = 0;
  for (const analysis::Finding& finding : answer->findings) {
    const Event event = both->event(finding.place.event);
    const std::string name(both->name(both->kernel_detail(event.detail).short_name));
    CAPTURE(name, finding.key);
    const auto expected = known.find(name);
    if (expected == known.end()) continue;
    ++named;
    if (name == "atomics") {  // the operation in a header of the C++ library, inlined into the kernel
      CHECK(finding.place.line.ends_with("< zoo.cu:13"));
      continue;
    }
    CHECK(finding.place.line == expected->second);  // empty if no line is to blame, or if no warp was sampled
    if (expected->second.empty()) continue;
    CHECK_THAT(finding.title.english(), contains_text(", most at " + finding.place.line + "."));
    CHECK_THAT(finding.seen.english(), contains_text(" are of " + finding.place.line));
  }
  CHECK(named == known.size());
  const stats::Table table = analysis::findings_table(*both, answer->findings);
  const auto column = std::find_if(table.columns().begin(), table.columns().end(), [](const stats::Column& each) { return each.title == "Line"; });
  REQUIRE(column != table.columns().end());
  for (std::size_t row = 0; row < table.row_count(); ++row) CHECK(table.text(column->text(row)) == answer->findings[row].place.line);
  // Without counts no line is named.
  const auto alone = analysis::apply_rule(**counters, *analysis::parse_rule("kernel_bounds:share=0"));
  REQUIRE(alone);
  for (const analysis::Finding& finding : alone->findings) CHECK(finding.place.line.empty());
}

TEST_CASE("what a kernel's code costs is told beside its small grid; few warps, which follow from that grid, are not") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.compute_major = 9;
  gpu.multiprocessor_count = 132;
  builder.set_device(process, 0, gpu);
  const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
  KernelDetail shape;
  shape.grid[0] = 8;
  shape.block[0] = 32;  // 32 blocks of one warp each, while 64 warps fit: half of the occupancy
  shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
  shape.registers_per_thread = 32;
  builder.add(kernels, {Event{0, 10 * kMillisecond, builder.intern("strided"), 1, builder.intern(shape)}});
  MeasuredLaunch launch{process, 1, KernelReplay::kOnePass, 1, {}, 0, {}};
  for (const auto& [metric, value] : std::map<std::string, double>{{"gpu__time_duration.sum", 1e7},
                                                                   {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 6},
                                                                   {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 40},
                                                                   {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 40},
                                                                   {"smsp__issue_active.avg.pct_of_peak_sustained_active", 10},
                                                                   {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 4}})
    launch.values.push_back({builder.kernel_metric(metric), value});
  builder.add(std::move(launch));
  const auto trace = builder.snapshot();
  const std::vector<analysis::RuleRequest> requests{*analysis::parse_rule("small_grid"), *analysis::parse_rule("kernel_bounds")};
  const auto answers = analysis::apply_rules(*trace, requests);
  REQUIRE(answers);
  REQUIRE((*answers)[0].findings.size() == 1);
  REQUIRE((*answers)[1].findings.size() == 1);
  const analysis::Finding& finding = (*answers)[1].findings.front();
  CHECK(finding.key == "global_access");
  CHECK(finding.cost == Approx((1 - 4.0 / 32) * 0.4 * 10 * kMillisecond).margin(1));
  CHECK_THAT(finding.seen, !contains_text("Next"));
}
