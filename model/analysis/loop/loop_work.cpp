#include "loop_work.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "model/trace/combining/parts.h"
#include "model/trace/kernel_records.h"
#include "model/trace/storage/interval_union.h"
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
  for (ProcessId process = 0; process < trace_.processes().size(); ++process) loops_.push_back(loop_.of(process));
  if (reads_counters(trace_)) find_disturbed();
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
        if (!has(EventRef{id, i - 1})) continue;
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

bool LoopWork::has(EventRef operation) const { return loops_.empty() || has(operation, trace_.lane(operation.lane).start(operation.index)); }

bool LoopWork::has(EventRef operation, Nanoseconds start) const {
  if (loops_.empty()) return true;
  const ProcessId process = trace_.track_of(operation.lane).key.process;
  if (!loops_[process]) return true;
  const std::uint32_t correlation = start < loops_[process]->end ? 0 : trace_.lane(operation.lane).correlation(operation.index);
  return has({{start, start}, operation, 0, correlation, 0, TrackKind::kKernels, process});
}

bool LoopWork::has(const GpuOperation& operation) const {
  if (loops_.empty()) return true;
  const std::optional<TimeRange>& loop = loops_[operation.process];
  if (!loop) return true;
  const Nanoseconds begin = operation.range.begin;
  if (begin < loop->begin) return false;
  if (const auto before = enqueued_before_.find(operation.event.lane); before != enqueued_before_.end() && operation.event.index < before->second) return false;
  if (begin < loop->end) return true;
  const EventRef launch = launch_index_->of(trace_).find(operation.process, operation.correlation, begin);
  return launch.valid() && trace_.lane(launch.lane).start(launch.index) < loop->end;
}

LoopWork::Share LoopWork::share_of(LaneId id, TimeRange time) const {
  const Lane& lane = trace_.lane(id);
  const std::optional<TimeRange> loop = loop_.of(trace_.track_of(id).key.process);
  EventIndex first = lane.lower_bound(time.begin);
  const EventIndex end = std::max(first, lane.lower_bound(time.end));
  EventIndex behind = end;
  if (loop) {
    first = std::max(first, lane.lower_bound(loop->begin));
    if (const auto before = enqueued_before_.find(id); before != enqueued_before_.end()) first = std::max(first, before->second);
    first = std::min(first, end);
    behind = std::clamp(lane.lower_bound(loop->end), first, end);
  }
  Share share;
  if (first < behind) share = {behind - first, lane.busy({lane.start(first), lane.end(behind - 1)})};
  for (EventIndex i = behind; i < end && !stop_.stop_requested(); ++i) {
    if (!has(EventRef{id, i})) continue;
    ++share.operations;
    share.time += lane.duration(i);
  }
  return share;
}

bool LoopWork::has(const IdleGap& gap, const IdlePart& part) const {
  const Nanoseconds enqueued = gap.launch.valid() ? trace_.lane(gap.launch.lane).start(gap.launch.index) : gap.range.begin;
  const ProcessId process = trace_.track_of(gap.next.lane).key.process;
  return loop_.recurrence(process, part.range.begin, enqueued) == Recurrence::kRecurring;
}

const AwaitedWork& LoopWork::awaited() const {
  std::call_once(awaited_is_known_, [this] { awaited_.emplace(trace_, *this, launch_index_->of(trace_), time_, stop_); });
  return *awaited_;
}

Nanoseconds LoopWork::reading(GpuId gpu) const { return reading_of(gpu).idle; }

LoopWork::Reading LoopWork::reading_of(GpuId gpu) const {
  if (!reads_counters(trace_)) return {};
  std::call_once(readings_are_known_, [this] { readings_ = find_readings(); });
  const auto found = readings_.find(gpu);
  return found == readings_.end() ? Reading() : found->second;
}

std::vector<TimeRange> disturbed_of(ProcessId process, std::span<const TimeRange> iterations, std::size_t warm_up, const ReadingTimes& readings) {
  std::vector<TimeRange> disturbed;
  for (std::size_t i = warm_up; i < iterations.size(); ++i)
    if (readings.any_in(process, iterations[i])) disturbed.push_back(iterations[i]);
  if (iterations.size() < warm_up + disturbed.size() + kLeastLeftAlone) disturbed.clear();
  return disturbed;
}

void LoopWork::find_disturbed() {
  const ReadingTimes readings(counter_readings(trace_, launch_index_->of(trace_), stop_));
  for (const IterationSeries& series : iterations_) {
    std::vector<TimeRange> disturbed = disturbed_of(series.process, iteration_times(trace_, series), warm_up_iterations(trace_, series), readings);
    if (!disturbed.empty()) disturbed_[series.process] = std::move(disturbed);
  }
}

std::span<const TimeRange> LoopWork::disturbed(ProcessId process) const noexcept {
  const auto found = disturbed_.find(process);
  return found == disturbed_.end() ? std::span<const TimeRange>() : found->second;
}

std::size_t LoopWork::disturbed_iterations() const noexcept {
  std::size_t count = 0;
  for (const auto& [process, times] : disturbed_) count += times.size();
  return count;
}

void LoopWork::lay_to_reading(const IdleGap& gap, std::span<const IdlePart> parts, std::vector<IdlePart>& into) const {
  into.clear();
  const std::span<const TimeRange> disturbed = this->disturbed(trace_.track_of(gap.next.lane).key.process);
  auto time = std::upper_bound(disturbed.begin(), disturbed.end(), gap.range.begin, [](Nanoseconds t, const TimeRange& one) { return t < one.end; });
  for (IdlePart part : parts) {
    const TimeRange whole = part.range;
    Nanoseconds t = whole.begin;
    const auto append = [&](IdleCause cause, Nanoseconds end) {
      if (end <= t) return;
      part.range = {t, end};
      part.cause = cause;
      into.push_back(part);
      t = end;
    };
    const IdleCause cause = part.cause;
    for (; time != disturbed.end() && time->begin < whole.end; ++time) {
      append(cause, time->begin);
      append(IdleCause::kOverhead, std::min(time->end, whole.end));
      if (time->end > whole.end) break;
    }
    append(cause, whole.end);
  }
}

bool LoopWork::is_disturbed(ProcessId process, Nanoseconds t) const noexcept {
  const std::span<const TimeRange> times = disturbed(process);
  const auto time = std::upper_bound(times.begin(), times.end(), t, [](Nanoseconds at, const TimeRange& one) { return at < one.end; });
  return time != times.end() && time->begin <= t;
}

std::map<GpuId, LoopWork::Reading> LoopWork::find_readings() const {
  std::map<GpuId, std::vector<TimeRange>> disturbed;  // of all processes that use it
  std::set<std::pair<GpuId, ProcessId>> users;
  for (const Track& track : trace_.tracks())
    if (is_gpu_work(track.key.kind)) users.emplace(track.key.gpu, track.key.process);
  for (const auto& [gpu, process] : users) {
    const std::span<const TimeRange> of_process = this->disturbed(process);
    disturbed[gpu].insert(disturbed[gpu].end(), of_process.begin(), of_process.end());
  }
  std::map<GpuId, Reading> readings;
  std::map<GpuId, IntervalUnion> all;
  for (auto& [gpu, times] : disturbed) {
    std::sort(times.begin(), times.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    IntervalUnion::Writer writer;
    for (const TimeRange& time : times) writer.add(time.begin, time.end);
    all[gpu] = writer.take();
    readings[gpu].disturbed_busy = all[gpu].covered(of_gpu(gpu, kWholeTrace));
  }
  std::vector<IdlePart> laid;
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    lay_to_reading(gap, parts, laid);
    for (const IdlePart& part : laid) {
      if (part.cause != IdleCause::kOverhead || !has(gap, part)) continue;
      readings[gap.gpu].idle += part.range.length();
      readings[gap.gpu].disturbed_busy -= all[gap.gpu].covered(part.range);
    }
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

RankCollector& LoopWork::collect_ranks() const {
  if (!rank_collector_) {
    RankCollector::Counts counts;
    if (loop_.known()) counts = [this](const GpuOperation& operation) { return has(operation); };
    rank_collector_ = std::make_unique<RankCollector>(trace_, time_, std::move(counts));
  }
  return *rank_collector_;
}

std::vector<RankWork> LoopWork::find_ranks() const {
  if (!rank_collector_) {
    OperationVisitor* const alone = &collect_ranks();
    visit_operations(trace_, time_, {&alone, 1}, stop_);
  }
  std::vector<RankWork> ranks = rank_collector_->take();
  rank_collector_.reset();
  if (!loop_.known()) return ranks;
  for (RankWork& rank : ranks)
    if (const std::optional<TimeRange> loop = loop_.of(rank.process))
      rank.extent = {loop->begin, iterations_.empty() ? rank.extent.end : std::max(loop->end, rank.extent.end)};
  return ranks;
}

const RankWaits& LoopWork::rank_waits() const {
  std::call_once(rank_waits_are_known_, [this] {
    std::vector<RankWork> stepping;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < of_ranks().size(); ++i) {
      if (!steps(of_ranks()[i])) continue;
      stepping.push_back(of_ranks()[i]);
      numbers.push_back(i);
    }
    RankWaits found = find_rank_waits(trace_, stepping);
    found.renumber(numbers, of_ranks().size());
    rank_waits_ = std::move(found);
  });
  return rank_waits_;
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

namespace {

// Of each process, when its last work on a GPU ends.
std::map<ProcessId, Nanoseconds> ends_of_gpu_work(const Trace& trace) {
  std::map<ProcessId, Nanoseconds> ends;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      if (trace.lane(id).size() == 0) continue;
      const Nanoseconds end = trace.lane(id).extent().end;
      Nanoseconds& last = ends.try_emplace(track.key.process, end).first->second;
      last = std::max(last, end);
    }
  }
  return ends;
}

}  // namespace

LoopTimes loop_times(const Trace& trace) {
  const RuleContext context{.trace = trace};
  const LoopWork work(context);
  LoopTimes times;
  if (!work.loop().known()) return times;
  times.name = loop_name(work.families().text(work.loop().family()));
  times.iterations = work.loop().iterations();
  const std::map<ProcessId, Nanoseconds> ends = work.iterations().empty() ? ends_of_gpu_work(trace) : std::map<ProcessId, Nanoseconds>();
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    std::optional<TimeRange> time = work.of_process(process);
    if (!time) continue;
    if (const auto end = ends.find(process); end != ends.end()) time->end = std::min(time->end, end->second);
    if (const auto part = saved_part_of(trace, part_of_process(trace, process))) time = time->intersected(part->time);
    if (!time->empty()) times.by_process.emplace(process, *time);
  }
  return times;
}

}  // namespace lanescope::analysis
