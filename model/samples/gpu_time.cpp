#include "model/samples/gpu_time.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "call_tree_growth.h"
#include "model/events/launch_index.h"
#include "model/events/name_family.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/samples/backtrace.h"
#include "model/trace/combining/parts.h"
#include "model/trace/kernel_records.h"

namespace lanescope::samples {
namespace {

constexpr std::uint32_t kRoot = CallTreeGrowth::kRoot;
constexpr Nanoseconds kLeastKernel = 1000;  // a kernel with less than 1/kLeastKernel of the total time is not divided
constexpr Nanoseconds kLeastLine = 10'000;  // lines with less than 1/kLeastLine are combined

// The lanes of each thread's tracks of one kind.
std::vector<std::vector<LaneId>> lanes_by_thread(const Trace& trace, TrackKind kind) {
  std::vector<std::vector<LaneId>> lanes(trace.threads().size());
  for (const Track& track : trace.tracks())
    if (track.key.kind == kind && track.key.thread < lanes.size())
      lanes[track.key.thread].insert(lanes[track.key.thread].end(), track.lanes.begin(), track.lanes.end());
  return lanes;
}

std::string thread_text(const Trace& trace, ThreadId id) {
  const Thread& thread = trace.threads()[id];
  const Process& process = trace.processes()[thread.process];
  const TracePart* const part = compares_runs(trace) ? part_of_process(trace, thread.process) : nullptr;
  std::string text = part != nullptr ? part->run + "  " : std::string();
  text += "[" + std::to_string(process.pid) + "] " + process.name;
  if (thread.tid != process.pid) text += " / [" + std::to_string(thread.tid) + "] " + thread.name;
  return text;
}

// The part of `whole` for `samples` of `all` samples.
Nanoseconds part_of(Nanoseconds whole, std::uint64_t samples, std::uint64_t all) {
  return static_cast<Nanoseconds>(static_cast<long double>(whole) * static_cast<long double>(samples) / static_cast<long double>(all));
}

class GpuTimeTree {
 public:
  GpuTimeTree(const Trace& trace, const SampleSelection& selection, CallChoice choice, const std::stop_token& stop)
      : trace_(trace),
        selection_(selection),
        stop_(stop),
        launches_(trace, stop),
        calls_(trace.call_stacks(), choice),
        functions_(trace),
        ranges_(lanes_by_thread(trace, TrackKind::kNvtxRanges)),
        backtraces_(lanes_by_thread(trace, TrackKind::kBacktraces)) {}

  CallTree make(CallTreeOrder order) {
    add_operations();
    divide_kernels();
    if (order == CallTreeOrder::kBottomUp) turn_around();
    return std::move(tree_).finish(std::move(functions_).take(), WeightBy::kTime);
  }

 private:
  void add_operations() {
    constexpr EventIndex kBetweenLooks = 1u << 14;  // operations between checks of the stop token
    for (const Track& track : trace_.tracks()) {
      if (!is_gpu_work(track.key.kind) || (!selection_.run.empty() && run_of(trace_, track) != selection_.run)) continue;
      for (const LaneId id : track.lanes) {
        const Lane& lane = trace_.lane(id);
        const auto [first, last] = selection_.window ? lane.overlapping(*selection_.window) : std::pair<EventIndex, EventIndex>{0, lane.size()};
        for (EventIndex i = first; i < last; ++i) {
          if ((i - first) % kBetweenLooks == 0 && stop_.stop_requested()) return;
          add_operation(track, lane.event(i));
        }
      }
    }
  }

  void add_operation(const Track& track, const Event& operation) {
    const EventRef call = launches_.find(track.key.process, operation.correlation, operation.start);
    const ThreadId thread = call.valid() ? trace_.track_of(call.lane).key.thread : kNone;
    if (!selection_.threads.empty() && std::find(selection_.threads.begin(), selection_.threads.end(), thread) == selection_.threads.end()) return;
    const Weight weight{1, operation.duration};
    std::uint32_t node = kRoot;
    const auto enter = [&](FunctionIndex function) {
      node = tree_.child(node, function);
      tree_.node(node).total += weight;
    };
    tree_.node(kRoot).total += weight;
    for (const FunctionIndex function : path_of(call, thread)) enter(function);
    enter(operation_of(operation.name));
    tree_.node(node).self += weight;
    if (track.key.kind == TrackKind::kKernels) kernels_.try_emplace(node, track.key.process, operation.name);
  }

  // The path to the work of a call, outermost first. Operations of one call follow each other.
  const std::vector<FunctionIndex>& path_of(EventRef call, ThreadId thread) {
    if (call.valid() && call == last_call_) return path_;
    last_call_ = call;
    path_.clear();
    if (!call.valid() || thread == kNone) {
      path_.push_back(functions_.frame(FrameKind::kThread, "(launch not recorded)"));
      return path_;
    }
    path_.push_back(function_of_thread(thread));
    const Event event = trace_.event(call);
    if (const CallNodeId chain = backtrace_in(trace_, backtraces_[thread], event); chain != 0)
      append_chain(chain);
    else
      append_ranges(thread, event.start);
    return path_;
  }

  void append_chain(CallNodeId chain) {
    const std::size_t begin = path_.size();
    for (CallNodeId call = calls_.innermost(chain); call != 0; call = calls_.caller(call))
      for (const FunctionIndex function : functions_.at(trace_.call_stacks().node(call).location)) path_.push_back(function);
    std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(begin), path_.end());
  }

  void append_ranges(ThreadId thread, Nanoseconds time) {
    around_.clear();
    for (const LaneId id : ranges_[thread])
      if (const auto index = trace_.lane(id).at(time)) around_.push_back({trace_.lane(id).start(*index), trace_.lane(id).name(*index)});
    std::stable_sort(around_.begin(), around_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [start, name] : around_) path_.push_back(function_of_range(name));
  }

  FunctionIndex function_of_thread(ThreadId thread) {
    const auto [found, inserted] = threads_.try_emplace(thread);
    if (inserted) found->second = functions_.frame(FrameKind::kThread, thread_text(trace_, thread));
    return found->second;
  }
  FunctionIndex function_of_range(NameId name) {
    const auto [found, inserted] = range_functions_.try_emplace(name);
    if (inserted) found->second = functions_.frame(FrameKind::kRange, name_family(trace_.name(name)));
    return found->second;
  }
  FunctionIndex operation_of(NameId name) {
    const auto [found, inserted] = operations_.try_emplace(name);
    if (inserted) found->second = functions_.frame(FrameKind::kOperation, trace_.name(name));
    return found->second;
  }

  // Adds lines, and states of warps for each line, below kernels that have samples.
  void divide_kernels() {
    if (stop_.stop_requested() || trace_.kernel_records().windows.empty()) return;
    std::map<std::pair<ProcessId, NameId>, std::vector<kernels::StallSum>> lines;
    for (kernels::StallSum& line : kernels::sum_stalls(trace_, kernels::SumBy::kLine)) lines[{line.process, line.kernel}].push_back(std::move(line));
    for (const auto& [node, kernel] : kernels_) {
      if (stop_.stop_requested()) return;
      const auto found = lines.find(kernel);
      if (found != lines.end() && tree_.node(node).total.time >= tree_.node(kRoot).total.time / kLeastKernel) divide(node, found->second);
    }
  }

  void divide(std::uint32_t kernel, std::span<const kernels::StallSum> lines) {
    const Nanoseconds whole = tree_.node(kernel).self.time;
    std::uint64_t all = 0, before = 0;
    for (const kernels::StallSum& line : lines) all += line.samples;
    if (all == 0) return;
    tree_.node(kernel).self.time = 0;
    const Nanoseconds least = tree_.node(kRoot).total.time / kLeastLine;
    for (const kernels::StallSum& line : lines) {
      const std::uint32_t place = place_of(kernel, part_of(whole, line.samples, all) < least ? "(other lines)" : line.line);
      for (const kernels::StallCount& stall : line.stalls) {
        const Nanoseconds time = part_of(whole, before + stall.samples, all) - part_of(whole, before, all);
        before += stall.samples;
        const std::uint32_t state = tree_.child(place, functions_.frame(FrameKind::kWarpState, stall.reason));
        tree_.node(state).total.time += time;
        tree_.node(state).self.time += time;
        if (place != kernel) tree_.node(place).total.time += time;
      }
    }
  }

  // The kernel itself if the line is unknown.
  std::uint32_t place_of(std::uint32_t kernel, std::string_view line) {
    return line.empty() ? kernel : tree_.child(kernel, functions_.frame(FrameKind::kLine, line));
  }

  // Innermost calls become roots, with their callers below them.
  void turn_around() {
    CallTreeGrowth turned;
    turned.node(kRoot).total = tree_.node(kRoot).total;
    for (std::uint32_t each = 1; each < tree_.size(); ++each) {
      const Weight weight = tree_.node(each).self;
      if (weight == Weight{}) continue;
      std::uint32_t node = kRoot;
      for (std::uint32_t call = each; call != kRoot; call = tree_.node(call).parent) {
        node = turned.child(node, tree_.node(call).function);
        turned.node(node).total += weight;
      }
      turned.node(node).self += weight;
    }
    tree_ = std::move(turned);
  }

  const Trace& trace_;
  const SampleSelection& selection_;
  const std::stop_token& stop_;
  LaunchIndex launches_;
  ShownCalls calls_;
  SampledFunctions functions_;
  std::vector<std::vector<LaneId>> ranges_, backtraces_;  // by thread
  CallTreeGrowth tree_;
  std::map<std::uint32_t, std::pair<ProcessId, NameId>> kernels_;  // by node
  std::unordered_map<ThreadId, FunctionIndex> threads_;
  std::unordered_map<NameId, FunctionIndex> range_functions_, operations_;
  EventRef last_call_;
  std::vector<FunctionIndex> path_;                     // to the work of last_call_
  std::vector<std::pair<Nanoseconds, NameId>> around_;  // ranges: start, name
};

}  // namespace

CallTree gpu_time_tree(const Trace& trace, const SampleSelection& selection, CallTreeOrder order, CallChoice choice, const std::stop_token& stop) {
  return GpuTimeTree(trace, selection, choice, stop).make(order);
}

}  // namespace lanescope::samples
