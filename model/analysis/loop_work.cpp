#include "loop_work.h"

#include <optional>

#include "model/trace/kernel_records.h"
#include "wording.h"

namespace lanescope::analysis {

bool reads_counters(const Trace& trace) noexcept { return !trace.kernel_records().measured.empty() || !trace.kernel_records().counted.empty(); }

LoopWork::LoopWork(const RuleContext& context)
    : trace_(context.trace), time_(context.time), launch_index_(context.launch_index), stop_(context.stop), families_(context.trace) {
  if (time_ == kWholeTrace) {  // of a part all counts: that is what was asked for
    iterations_ = find_iterations(trace_, families_, {}, *launch_index_);
    loop_ = Loop(trace_, iterations_);
  }
  if (!loop_.known()) return;
  const std::map<std::pair<ProcessId, GpuId>, Nanoseconds> begins = find_begins();
  for (const Track& track : trace_.tracks()) {
    const std::optional<TimeRange> loop = loop_.of(track.key.process);
    if (!loop || !is_gpu_work(track.key.kind)) continue;
    TimeRange& of_process = processes_.try_emplace(track.key.process, *loop).first->second;
    const Nanoseconds begin = begins.at({track.key.process, track.key.gpu});
    TimeRange& of_gpu = gpus_.try_emplace(track.key.gpu, TimeRange{begin, loop->end}).first->second;
    of_gpu = {std::min(of_gpu.begin, begin), std::max(of_gpu.end, loop->end)};
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_.lane(id);
      for (EventIndex i = lane.size(); i > 0 && lane.end(i - 1) > std::min(of_process.end, of_gpu.end); --i) {
        if (!has({id, i - 1})) continue;
        of_process.end = std::max(of_process.end, lane.end(i - 1));
        of_gpu.end = std::max(of_gpu.end, lane.end(i - 1));
      }
    }
  }
}

std::map<std::pair<ProcessId, GpuId>, Nanoseconds> LoopWork::find_begins() {
  struct Edge {
    std::optional<Nanoseconds> first;     // of the loop's operations starts then
    std::optional<Nanoseconds> last_end;  // of those that were enqueued before
  };
  std::map<std::pair<ProcessId, GpuId>, Edge> edges;
  for (const Track& track : trace_.tracks()) {
    const std::optional<TimeRange> loop = loop_.of(track.key.process);
    if (!loop || !is_gpu_work(track.key.kind)) continue;
    Edge& edge = edges[{track.key.process, track.key.gpu}];
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_.lane(id);
      const EventIndex begin = lane.lower_bound(loop->begin);
      EventIndex i = begin;
      const bool is_marked = !iterations_.empty();                              // work that repeats begins on the GPU
      for (; is_marked && i < lane.size() && lane.start(i) < loop->end; ++i) {  // streams do things in the order in which they were enqueued
        const EventRef launch = launch_index_->of(trace_).find(track.key.process, lane.correlation(i), lane.start(i));
        if (!launch.valid() || trace_.lane(launch.lane).start(launch.index) >= loop->begin) break;
      }
      if (i < lane.size()) edge.first = std::min(edge.first.value_or(lane.start(i)), lane.start(i));
      if (i == begin) continue;
      edge.last_end = std::max(edge.last_end.value_or(lane.end(i - 1)), lane.end(i - 1));
      enqueued_before_.emplace(id, i);
    }
  }
  std::map<std::pair<ProcessId, GpuId>, Nanoseconds> begins;
  for (const auto& [of, edge] : edges) {
    const Nanoseconds begin = loop_.of(of.first)->begin;
    begins[of] = edge.last_end ? std::max(begin, std::min(edge.first.value_or(*edge.last_end), *edge.last_end)) : begin;
  }
  return begins;
}

std::optional<TimeRange> LoopWork::of_process(ProcessId process) const noexcept {
  const auto time = processes_.find(process);
  return time == processes_.end() ? loop_.of(process) : time->second;
}

TimeRange LoopWork::of_gpu(GpuId gpu, TimeRange extent) const noexcept {
  const auto time = gpus_.find(gpu);
  return time == gpus_.end() ? extent : extent.intersected(time->second);
}

bool LoopWork::has(EventRef operation) const {
  const ProcessId process = trace_.track_of(operation.lane).key.process;
  const std::optional<TimeRange> loop = loop_.of(process);
  if (!loop) return true;
  const Lane& lane = trace_.lane(operation.lane);
  const Nanoseconds begin = lane.start(operation.index);
  if (begin < loop->begin) return false;
  if (const auto before = enqueued_before_.find(operation.lane); before != enqueued_before_.end() && operation.index < before->second) return false;
  if (begin < loop->end) return true;
  const EventRef launch = launch_index_->of(trace_).find(process, lane.correlation(operation.index), begin);
  return launch.valid() && trace_.lane(launch.lane).start(launch.index) < loop->end;
}

bool LoopWork::has(const IdleGap& gap, const IdlePart& part) const {
  const Nanoseconds enqueued = gap.launch.valid() ? trace_.lane(gap.launch.lane).start(gap.launch.index) : gap.range.begin;
  const ProcessId process = trace_.track_of(gap.next.lane).key.process;
  return loop_.recurrence(process, part.range.begin, enqueued) == Recurrence::kRecurring;
}

Nanoseconds LoopWork::reading(GpuId gpu) const {
  if (!reads_counters(trace_)) return 0;
  std::call_once(readings_are_known_, [this] { readings_ = find_readings(); });
  const auto found = readings_.find(gpu);
  return found == readings_.end() ? 0 : found->second;
}

std::map<GpuId, Nanoseconds> LoopWork::find_readings() const {
  std::map<GpuId, Nanoseconds> readings;
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    for (const IdlePart& part : parts)
      if (part.cause == IdleCause::kOverhead && has(gap, part)) readings[gap.gpu] += part.range.length();
  };
  const LaunchIndex& launches = launch_index_->of(trace_);
  if (time_ == kWholeTrace)
    visit_idle(trace_, launches, 1, add, stop_);
  else
    visit_idle_within(trace_, launches, time_, 1, add, stop_);
  return readings;
}

const std::vector<RankWork>& LoopWork::of_ranks() const {
  std::call_once(ranks_are_known_, [this] { ranks_ = find_ranks(); });
  return ranks_;
}

std::vector<RankWork> LoopWork::find_ranks() const {
  const auto counts = [this](EventRef operation) { return has(operation); };
  std::vector<RankWork> ranks = loop_.known() ? rank_work(trace_, time_, counts, stop_) : rank_work(trace_, time_, {}, stop_);
  if (!loop_.known()) return ranks;
  for (RankWork& rank : ranks)
    if (const std::optional<TimeRange> loop = loop_.of(rank.process))
      rank.extent = {loop->begin, iterations_.empty() ? rank.extent.end : std::max(loop->end, rank.extent.end)};
  return ranks;
}

class SharedLoopWork {
 public:
  const LoopWork& of(const RuleContext& context) {
    std::call_once(is_known_, [&] { work_.emplace(context); });
    return *work_;
  }

 private:
  std::once_flag is_known_;
  std::optional<LoopWork> work_;
};

std::shared_ptr<SharedLoopWork> share_loop_work() { return std::make_shared<SharedLoopWork>(); }
const LoopWork& loop_work(const RuleContext& context) { return context.shared_loop_work->of(context); }

Message loop_time_text(const Families& families, const Loop& loop) {
  if (!loop.known()) return Message("the time");
  return loop.family() == 0 ? Message("the time in which its work repeats") : loop_text(families.text(loop.family()));
}

std::string_view when_text(const Loop& loop, Recurrence recurrence) noexcept { return recurrence == Recurrence::kOnce ? "once" : loop.known() ? "loop" : ""; }

}  // namespace lanescope::analysis
