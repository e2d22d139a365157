#include "model/samples/gpu_time.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "model/events/name_family.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::samples;

namespace {

using Path = std::vector<std::string>;
using Paths = std::map<Path, Weight>;

// The weight of each path from the root: its own, or with everything below it, as `weight` selects.
Paths paths_of(const CallTree& tree, Weight CallTreeNode::*weight) {
  Paths paths;
  for (std::uint32_t node = 1; node < tree.nodes().size(); ++node) {
    if (tree.node(node).*weight == Weight{}) continue;
    Path path;
    for (std::uint32_t each = node; each != 0; each = tree.node(each).parent) path.push_back(tree.function_of(each).name);
    std::reverse(path.begin(), path.end());
    paths[path] += tree.node(node).*weight;
  }
  return paths;
}

CallTree tree_of(const Trace& trace, const SampleSelection& selection = {}, CallTreeOrder order = CallTreeOrder::kTopDown) {
  return gpu_time_tree(trace, selection, order);
}

// Two steps of one thread launch one kernel each, and the second also a copy; another thread launches a kernel without a range; one kernel has no launch.
std::shared_ptr<const Trace> program() {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 10;
  builder.process(process).executable = "/usr/bin/train";
  TrackKey ranges{TrackKind::kNvtxRanges, process}, main_calls{TrackKind::kCudaApi, process}, other_calls{TrackKind::kCudaApi, process};
  ranges.thread = main_calls.thread = builder.thread(process, 10);
  other_calls.thread = builder.thread(process, 11);
  const auto name = [&](const char* text) { return builder.intern(text); };
  builder.add(ranges, {{0, 100, name("step_1"), 0, 0}});
  builder.add(ranges, {{10, 50, name("forward"), 0, 0}});
  builder.add(ranges, {{100, 100, name("step_2"), 0, 0}});
  builder.add(main_calls, {{20, 5, name("cudaLaunchKernel"), 1, kWholeCall}});
  builder.add(main_calls, {{120, 5, name("cudaLaunchKernel"), 2, kWholeCall}});
  builder.add(main_calls, {{130, 5, name("cudaMemcpyAsync"), 3, kWholeCall}});
  builder.add(other_calls, {{140, 5, name("cudaLaunchKernel"), 4, kWholeCall}});
  TrackKey kernels{TrackKind::kKernels, process}, copies{TrackKind::kMemory, process};
  kernels.gpu = copies.gpu = builder.gpu_of_device(process, 0);
  builder.add(kernels, {{30, 7, name("gemm"), 1, 0}});
  builder.add(kernels, {{130, 11, name("gemm"), 2, 0}});
  builder.add(copies, {{150, 13, name("Memcpy HtoD"), 3, 0}});
  builder.add(kernels, {{150, 17, name("relu"), 4, 0}});
  builder.add(kernels, {{170, 19, name("gemm"), 99, 0}});
  return builder.snapshot();
}

std::string thread_name(const Trace& trace, ThreadId id) {
  const Thread& thread = trace.threads()[id];
  const Process& process = trace.processes()[thread.process];
  const std::string text = "[" + std::to_string(process.pid) + "] " + process.name;
  return thread.tid == process.pid ? text : text + " / [" + std::to_string(thread.tid) + "] " + thread.name;
}

// Operation by operation, from the trace's own answers: slow and obvious. For recordings without backtraces.
Paths oracle(const Trace& trace) {
  Paths paths;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) {
        const Event operation = trace.lane(id).event(i);
        Path path;
        if (const auto call = trace.launch_of({id, i})) {
          const ThreadId thread = trace.track_of(call->lane).key.thread;
          path.push_back(thread_name(trace, thread));
          for (const EventRef range : trace.nvtx_stack(thread, trace.event(*call).start)) path.push_back(name_family(trace.name(trace.event(range).name)));
        } else {
          path.emplace_back("(launch not recorded)");
        }
        path.emplace_back(trace.name(operation.name));
        paths[path] += Weight{1, operation.duration};
      }
  }
  return paths;
}

bool has_backtraces(const Trace& trace) { return has_stacks(trace, StackSource::kBacktraces); }

}  // namespace

TEST_CASE("work of a GPU stands below the ranges and the thread that launched it") {
  const auto trace = program();
  const CallTree tree = tree_of(*trace);
  const std::string main = thread_name(*trace, 0), other = thread_name(*trace, 1);
  CHECK(paths_of(tree, &CallTreeNode::self) == Paths{{{main, "step_*", "forward", "gemm"}, {1, 7}},
                                                     {{main, "step_*", "gemm"}, {1, 11}},
                                                     {{main, "step_*", "Memcpy HtoD"}, {1, 13}},
                                                     {{other, "relu"}, {1, 17}},
                                                     {{"(launch not recorded)", "gemm"}, {1, 19}}});
  CHECK(tree.total() == Weight{5, 67});
  const Paths totals = paths_of(tree, &CallTreeNode::total);
  CHECK(totals.at({main, "step_*"}) == Weight{3, 31});
  CHECK(totals.at({main}) == Weight{3, 31});
  // Siblings are sorted by their time.
  CHECK(tree.function_of(1).name == main);
  CHECK(tree.function_of(2).name == "(launch not recorded)");
}

TEST_CASE("work of a GPU is chosen by time and by the thread that launched it") {
  const auto trace = program();
  SampleSelection selection;
  selection.window = TimeRange{36, 131};  // part of the first kernel and of the second
  CHECK(tree_of(*trace, selection).total() == Weight{2, 18});
  selection.window.reset();
  selection.threads = {1};
  CHECK(paths_of(tree_of(*trace, selection), &CallTreeNode::self) == Paths{{{thread_name(*trace, 1), "relu"}, {1, 17}}});
}

TEST_CASE("bottom-up, what GPUs ran is divided by who launched it") {
  const auto trace = program();
  const Paths totals = paths_of(tree_of(*trace, {}, CallTreeOrder::kBottomUp), &CallTreeNode::total);
  const std::string main = thread_name(*trace, 0);
  CHECK(totals.at({"gemm"}) == Weight{3, 37});
  CHECK(totals.at({"gemm", "step_*", main}) == Weight{1, 11});
  CHECK(totals.at({"gemm", "forward", "step_*", main}) == Weight{1, 7});
  CHECK(totals.at({"gemm", "(launch not recorded)"}) == Weight{1, 19});
}

TEST_CASE("of every recording, GPU time lies where its launches and ranges say") {
  int compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::data_file(""))) {
    if (file.path().extension() != ".trace") continue;
    const auto loaded = load_trace(file.path().string());
    REQUIRE(loaded.has_value());
    const Trace& trace = **loaded;
    if (has_backtraces(trace) || !trace.kernel_records().windows.empty() || !has_stacks(trace, StackSource::kGpuWork)) continue;
    INFO(file.path().string());
    CHECK(paths_of(tree_of(trace), &CallTreeNode::self) == oracle(trace));
    ++compared;
  }
  CHECK(compared > 10);
}

TEST_CASE("a kernel's time is divided over its lines and the states of its warps as its samples lie") {
  const auto loaded = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(loaded.has_value());
  const Trace& trace = **loaded;
  const CallTree tree = tree_of(trace);
  std::map<std::string, std::pair<std::uint64_t, std::map<std::string, std::uint64_t>>> samples;  // by kernel: total, by line
  for (const kernels::StallSum& line : kernels::sum_stalls(trace, kernels::SumBy::kLine)) {
    auto& [all, by_line] = samples[std::string(trace.name(line.kernel))];
    all += line.samples;
    by_line[line.line] += line.samples;
  }
  int kernels = 0;
  for (std::uint32_t node = 1; node < tree.nodes().size(); ++node) {
    const CallTreeNode& kernel = tree.node(node);
    const auto sampled = samples.find(tree.function_of(node).name);
    if (tree.function_of(node).kind != FrameKind::kOperation || sampled == samples.end()) continue;
    INFO(tree.function_of(node).name);
    ++kernels;
    CHECK(kernel.self == Weight{kernel.total.count, 0});
    Nanoseconds below = 0;
    for (std::uint32_t line = kernel.first_child; line < kernel.first_child + kernel.child_count; ++line) {
      const Nanoseconds time = tree.node(line).total.time;
      below += time;
      if (tree.function_of(line).kind != FrameKind::kLine || tree.function_of(line).name == "(other lines)") continue;
      const double share = static_cast<double>(sampled->second.second.at(tree.function_of(line).name)) / static_cast<double>(sampled->second.first);
      CHECK(std::abs(static_cast<double>(time) - share * static_cast<double>(kernel.total.time)) < 20);  // ns, from rounding
      Nanoseconds states = 0;
      for (std::uint32_t state = tree.node(line).first_child; state < tree.node(line).first_child + tree.node(line).child_count; ++state)
        states += tree.node(state).total.time;
      CHECK(states == time);
    }
    CHECK(below == kernel.total.time);
  }
  CHECK(kernels >= 3);  // three transpositions

  // In the reversed tree, states of warps come first, and the total time is the same.
  const CallTree turned = tree_of(trace, {}, CallTreeOrder::kBottomUp);
  CHECK(turned.total().time == tree.total().time);
  Nanoseconds roots = 0;
  for (std::uint32_t node = 1; node <= turned.node(0).child_count; ++node) roots += turned.node(node).total.time;
  CHECK(roots == tree.total().time);
  CHECK(turned.function_of(1).kind == FrameKind::kWarpState);
}
