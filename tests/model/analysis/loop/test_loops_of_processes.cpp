// The kernels of each process belong to that process's own loop, whatever part of their loops the others are in.
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"
#include "model/trace/combining/combine.h"
#include "model/trace/combining/parts.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

// Two processes with ten steps of 10 ms each; the second's start at 200 ms. From 10 to 40 ms, in its setup, the second runs "tables"; in each step both run
// "work" for 5 ms. Counters and samples say for each kernel that its warps wait, and that no unit is used much.
std::shared_ptr<const Trace> program() {
  TraceBuilder builder;
  const std::uint32_t compute = builder.kernel_metric("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
                      memory = builder.kernel_metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
                      dram = builder.kernel_metric("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
                      bytes = builder.kernel_metric("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio");
  KernelDetail shape;
  shape.grid[0] = 100'000;
  shape.block[0] = 256;
  const DetailId detail = builder.intern(shape);
  for (const std::uint32_t number : {1u, 2u}) {
    const ProcessId process = builder.process_of_instance(number);
    builder.process(process).pid = number;
    const ThreadId thread = builder.thread(process, number);
    const GpuId gpu = builder.gpu_of_device(process, 0);
    const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7};
    const TrackKey ranges{.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread};
    const Nanoseconds loop = number == 1 ? 0 : 200 * kMillisecond;
    PcSampleWindow window{process, gpu, 1, {0, 400 * kMillisecond}, 1 << 20, {}, 0, 0, false, 400 * kMillisecond};
    std::uint32_t correlation = 0;
    const auto add = [&](const char* name, Nanoseconds start, Nanoseconds duration) {
      builder.add(kernels, {Event{start, duration, builder.intern(name), ++correlation, detail}});
      builder.add(MeasuredLaunch{process, correlation, KernelReplay::kOnePass, 1, {}, 0, {{compute, 5}, {memory, 50}, {dram, 50}, {bytes, 4}}});
    };
    const auto sample = [&](std::uint32_t index, const char* name) {
      const NameId id = builder.intern(name);
      const GpuFunctionId function = builder.gpu_function({process, 1, index, id, id});
      window.samples.push_back({function, builder.stall_reason("long_scoreboard"), 0, 900, 900});
    };
    if (number == 2) add("tables", 10 * kMillisecond, 30 * kMillisecond);
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds t = loop + step * 10 * kMillisecond;
      builder.add(ranges, {Event{t, 10 * kMillisecond - 1, builder.intern("step " + std::to_string(step)), 0, 0}});
      add("work", t + kMillisecond, 5 * kMillisecond);
    }
    sample(1, "work");
    if (number == 2) sample(2, "tables");
    builder.add(window);
  }
  return builder.snapshot();
}

}  // namespace

TEST_CASE("what a process runs in its setup is paid once, though another is in its loop then") {
  const auto trace = program();
  const auto rule = GENERATE(as<std::string>(), "kernel_bounds", "kernel_stalls");
  INFO(rule);
  const auto answer = apply_rule(*trace, *parse_rule(rule));
  REQUIRE(answer);
  std::size_t in_loop = 0, once = 0;
  for (const Finding& finding : answer->findings) {
    const std::string kernel(trace->name(trace->event(finding.place.event).name));
    INFO(finding.title << " " << finding.seen);
    CHECK((finding.recurrence == Recurrence::kOnce) == (kernel == "tables"));
    if (kernel == "work") CHECK_THAT(finding.seen, contains_text("10 runs"));
    if (kernel == "work" && rule == "kernel_bounds")
      CHECK_THAT(finding.seen, contains_text("50.0 ms, 50 % of the time of all kernels."));  // of what both ran on one GPU in their loops
    ++(finding.recurrence == Recurrence::kOnce ? once : in_loop);
  }
  CHECK(in_loop == 2);  // one for each process
  REQUIRE(once == 1);
  CHECK(answer->findings.back().recurrence == Recurrence::kOnce);
}

// Three programs at once, each on a GPU of its own, except one that uses only the CPU and whose ranges cover most time. One program has steps from the start,
// 10 times 10 ms; one makes tables from 10 to 40 ms and has passes from 200 ms on, 10 times 10 ms. In each step or pass, they work during the first 5 ms.
TEST_CASE("of programs that were recorded together each has its own loop") {
  TraceBuilder builder;
  for (const std::uint32_t number : {1u, 2u, 3u}) {
    const ProcessId process = builder.process_of_instance(number);
    builder.process(process).pid = number;
    const ThreadId thread = builder.thread(process, number);
    const TrackKey ranges{.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread};
    if (number == 3) {
      for (int i = 0; i < 100; ++i)
        builder.add(ranges, {Event{i * 10 * kMillisecond, 10 * kMillisecond - 1, builder.intern("batch " + std::to_string(i)), 0, 0}});
      continue;
    }
    const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, number - 1), .context = 1, .stream = 7};
    if (number == 2) builder.add(kernels, {Event{10 * kMillisecond, 30 * kMillisecond, builder.intern("tables"), 0, 0}});
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds t = (number == 1 ? 0 : 200 * kMillisecond) + i * 10 * kMillisecond;
      builder.add(ranges, {Event{t, 10 * kMillisecond - 1, builder.intern((number == 1 ? "step " : "pass ") + std::to_string(i)), 0, 0}});
      builder.add(kernels, {Event{t + kMillisecond, 5 * kMillisecond, builder.intern("work"), 0, 0}});
    }
  }
  const auto trace = builder.snapshot();
  const std::map<ProcessId, LoopTime> loops = loop_times(*trace);
  REQUIRE(loops.size() == 2);
  CHECK(loops.at(0).name == "step *");
  CHECK(loops.at(0).time == TimeRange{0, 100 * kMillisecond - 1});
  CHECK(loops.at(1).name == "pass *");
  CHECK(loops.at(1).time == TimeRange{200 * kMillisecond, 300 * kMillisecond - 1});
  CHECK(loops.at(1).iterations == 10);

  // Between the works of each lie nine gaps of 5 ms; before the first work of the second program lie 161 ms, which started in its setup.
  const auto bubbles = apply_rule(*trace, *parse_rule("gpu_bubbles"));
  REQUIRE(bubbles);
  CHECK(bubbles->summary.english() ==
        "2 GPUs were together idle for 90.0 ms of 191 ms (47 %) in the loops of the processes, 20 iterations, in gaps of 10.0 µs or longer.");
  REQUIRE(bubbles->findings.size() == 2);
  CHECK(bubbles->findings[0].cost == 90 * kMillisecond);
  CHECK(bubbles->findings[1].cost == 161 * kMillisecond);
  CHECK(bubbles->findings[1].recurrence == Recurrence::kOnce);
  CHECK_THAT(bubbles->findings[1].title, contains_text("before and after the loops of the processes"));
}

// Two runs of ten steps of 10 ms; the first two steps of one run take 30 ms.
TEST_CASE("ranks warm up together, and runs that follow each other each for itself") {
  const bool is_at_once = GENERATE(true, false);
  TraceBuilder builder;
  for (const std::uint32_t number : {1u, 2u}) {
    const ProcessId process = builder.process_of_instance(number);
    const TrackKey ranges{.kind = TrackKind::kNvtxRanges, .process = process, .thread = builder.thread(process, number)};
    const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, number - 1), .context = 1, .stream = 7};
    Nanoseconds t = is_at_once || number == 1 ? 0 : 1'000 * kMillisecond;
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds length = (number == 1 && i < 2 ? 30 : 10) * kMillisecond;
      builder.add(ranges, {Event{t, length, builder.intern("step " + std::to_string(i)), 0, 0}});
      builder.add(kernels, {Event{t + kMillisecond, 5 * kMillisecond, builder.intern("work"), 0, 0}});
      t += length;
    }
  }
  const std::map<ProcessId, LoopTime> loops = loop_times(*builder.snapshot());
  CHECK(loops.at(0).iterations == 8);
  CHECK(loops.at(1).iterations == (is_at_once ? 8 : 10));
}

// Eight files of one program, like those of ranks that do the same: this does not lower any kernel's share of its GPU.
TEST_CASE("what costs a rank much is found beside others that do the same, and said once where rules speak of shapes") {
  const auto name = GENERATE(as<std::string>(), "transformer_fp32", "transformer_tf32", "kernel_counters", "transpositions");
  INFO(name);
  const auto one = load_trace(test::data_file(name + ".trace"));
  REQUIRE(one);
  std::vector<TraceSource> sources;
  for (int rank = 0; rank < 8; ++rank) sources.push_back({*one, "rank" + std::to_string(rank), 0});
  const auto all = combine_traces(sources);
  for (const char* const rule : {"small_grid", "tail_wave", "low_occupancy", "fp32_products", "kernel_bounds", "kernel_stalls"}) {
    INFO(rule);
    // By kernel: its cost, and how often it is reported.
    using Costs = std::map<std::string, std::pair<Nanoseconds, int>>;
    const auto costs_in = [rule](const Trace& trace) {
      Costs costs;
      const auto answer = apply_rule(trace, *parse_rule(rule));
      REQUIRE(answer);
      for (const Finding& finding : answer->findings) {
        const Event event = trace.event(finding.place.event);
        const KernelDetail& shape = trace.kernel_detail(event.detail);
        auto& [cost, count] = costs[std::string(trace.name(event.name)) + " " + std::to_string(shape.grid[0]) + " " + std::to_string(shape.block[0]) + " " +
                                    std::to_string(shape.dynamic_shared_memory)];
        cost += finding.cost;
        ++count;
      }
      return costs;
    };
    const Costs of_one = costs_in(**one), of_all = costs_in(*all);
    CHECK(of_all.size() == of_one.size());
    const bool is_of_shapes = std::string_view(rule).find("kernel_") != 0;
    for (const auto& [kernel, cost] : of_one) {
      INFO(kernel);
      const auto found = of_all.find(kernel);
      REQUIRE(found != of_all.end());
      CHECK(std::abs(found->second.first - 8 * cost.first) <= 8);  // fractions of a nanosecond
      CHECK(found->second.second == (is_of_shapes ? cost.second : 8 * cost.second));
    }
  }
}

TEST_CASE("of a combined trace, each track, process and GPU is of its part") {
  const auto one = program();
  std::vector<TraceSource> sources;
  for (int i = 0; i < 3; ++i) sources.push_back({one, "rank" + std::to_string(i), i == 0 ? 0 : Nanoseconds{i} * kMillisecond});
  const auto all = combine_traces(sources);
  const PartsOfGpus of_gpus(*all);
  for (std::size_t part = 0; part < all->parts().size(); ++part) {
    const TracePart& expected = all->parts()[part];
    for (TrackId id = expected.first_track; id < expected.end_track; ++id) {
      const Track& track = all->tracks()[id];
      CHECK(part_of(*all, id) == &expected);
      CHECK(part_of(*all, track) == &expected);
      CHECK(part_of_process(*all, track.key.process) == &expected);
      if (track.key.gpu != kNone) CHECK(of_gpus.of(track.key.gpu) == &expected);
    }
  }
  CHECK(part_of(*all, static_cast<TrackId>(all->tracks().size())) == nullptr);
  CHECK(part_of(*one, TrackId{0}) == nullptr);
  CHECK(part_of_process(*one, 0) == nullptr);
  CHECK(PartsOfGpus(*one).of(0) == nullptr);
}
