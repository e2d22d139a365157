#include "loop_work.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "model/trace/combining/parts.h"
#include "model/trace/measured_calls.h"
#include "wording.h"

namespace lanescope::analysis {

bool reads_counters(const Trace& trace) noexcept { return MeasuredCalls::any(trace); }

LoopWork::LoopWork(const RuleContext& context)
    : trace_(context.trace), time_(context.time), launch_index_(context.launch_index), stop_(context.stop), families_(context.trace) {
  if (time_ == kWholeTrace) {  // if only a part was asked for, all of it counts
    iterations_ = find_iterations(trace_, families_, {}, *launch_index_);
    loop_ = Loop(trace_, iterations_);
  }
  with_readings_ = gpus_with_readings(trace_);
  if (!loop_.known()) return;
  for (ProcessId process = 0; process < trace_.processes().size(); ++process) loops_.push_back(loop_.of(process));
  if (reads_counters(trace_)) find_disturbed();
  begins_ = find_begins();
  for (const Track& track : trace_.tracks()) {
    const std::optional<TimeRange> loop = loop_.of(track.key.process);
    if (!loop || !is_gpu_work(track.key.kind)) continue;
    TimeRange& of_process = processes_.try_emplace(track.key.process, *loop).first->second;
    const Nanoseconds begin = begins_.at({track.key.process, track.key.gpu});
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
    std::optional<Nanoseconds> first;     // start of the first operation of the loop
    std::optional<Nanoseconds> last_end;  // end of the last operation that was enqueued before
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
      const bool is_marked = loop_.family(track.key.process) != 0;              // otherwise the loop is work that repeats, which starts on the GPU
      for (; is_marked && i < lane.size() && lane.start(i) < loop->end; ++i) {  // streams run operations in the order in which they were enqueued
        const EventRef launch = launch_index_->find(trace_, {id, i});
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
  return has({{start, start}, operation, 0, 0, 0, TrackKind::kKernels, process});
}

bool LoopWork::has(const GpuOperation& operation) const {
  if (loops_.empty()) return true;
  const std::optional<TimeRange>& loop = loops_[operation.process];
  if (!loop) return true;
  const Nanoseconds begin = operation.range.begin;
  if (begin < loop->begin) return false;
  if (const auto before = enqueued_before_.find(operation.event.lane); before != enqueued_before_.end() && operation.event.index < before->second) return false;
  if (begin < loop->end) return true;
  const EventRef launch = launch_index_->find(trace_, operation.event);
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
  if (loops_.empty()) return true;
  const ProcessId process = trace_.track_of(gap.next.lane).key.process;
  const auto begin = begins_.find({process, gap.gpu});
  return (begin == begins_.end() || part.range.begin >= begin->second) && loop_.recurrence(process, part.range.begin, gap.enqueued()) == Recurrence::kRecurring;
}

const AwaitedWork& LoopWork::awaited() const {
  std::call_once(awaited_is_known_, [this] { awaited_.emplace(trace_, *this, launch_index_->of(trace_), time_, stop_); });
  return *awaited_;
}

Nanoseconds LoopWork::reading(GpuId gpu) const { return reading_of(gpu).idle; }

LoopWork::Reading LoopWork::reading_of(GpuId gpu) const {
  if (!reads_counters(trace_)) return {};
  std::call_once(readings_are_known_, [this] { find_readings(); });
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
    std::vector<TimeRange> disturbed = disturbed_of(series.process, iteration_times(trace_, series), series.warm_up, readings);
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

OperationVisitor* LoopWork::collect_readings() const {
  if (!reads_counters(trace_) || time_ != kWholeTrace) return nullptr;
  if (!readings_collector_) {
    begin_readings();
    std::vector<TimeRange> times = overhead_times(trace_, stop_);
    for (const auto& [process, disturbed] : disturbed_) times.insert(times.end(), disturbed.begin(), disturbed.end());
    const IdleVisitor visitor = [this](const IdleGap& gap, std::span<const IdlePart> parts) { add_reading(gap, parts); };
    readings_collector_ = gaps_that_touch(trace_, launch_index_->of(trace_), std::move(times), visitor, stop_);
  }
  return readings_collector_.get();
}

void LoopWork::begin_readings() const {
  std::map<GpuId, std::vector<TimeRange>> disturbed;
  std::set<std::pair<GpuId, ProcessId>> users;
  for (const Track& track : trace_.tracks())
    if (is_gpu_work(track.key.kind)) users.emplace(track.key.gpu, track.key.process);
  for (const auto& [gpu, process] : users) {
    const std::span<const TimeRange> of_process = this->disturbed(process);
    disturbed[gpu].insert(disturbed[gpu].end(), of_process.begin(), of_process.end());
  }
  for (auto& [gpu, times] : disturbed) {
    std::sort(times.begin(), times.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    IntervalUnion::Writer writer;
    for (const TimeRange& time : times) writer.add(time.begin, time.end);
    disturbed_of_gpus_[gpu] = writer.take();
    readings_[gpu].disturbed_busy = disturbed_of_gpus_[gpu].covered(of_gpu(gpu, kWholeTrace));
  }
}

void LoopWork::add_reading(const IdleGap& gap, std::span<const IdlePart> parts) const {
  if (!with_readings_.contains(gap.gpu)) return;
  lay_to_reading(gap, parts, laid_);
  for (const IdlePart& part : laid_) {
    if (part.cause != IdleCause::kOverhead || !has(gap, part)) continue;
    readings_[gap.gpu].idle += part.range.length();
    readings_[gap.gpu].disturbed_busy -= disturbed_of_gpus_[gap.gpu].covered(part.range);
  }
}

void LoopWork::find_readings() const {
  if (readings_collector_) {
    readings_collector_.reset();  // it has seen everything
  } else if (OperationVisitor* const alone = collect_readings()) {
    visit_operations(trace_, time_, {&alone, 1}, stop_);
    readings_collector_.reset();
  } else {
    begin_readings();
    const IdleVisitor visitor = [this](const IdleGap& gap, std::span<const IdlePart> parts) { add_reading(gap, parts); };
    visit_idle_within(trace_, launch_index_->of(trace_), time_, 1, visitor, stop_);
  }
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
      rank.extent = {loop->begin, loop_.family(rank.process) == 0 ? rank.extent.end : std::max(loop->end, rank.extent.end)};
  return ranks;
}

const std::vector<RanksOfProgram>& LoopWork::programs() const {
  std::call_once(programs_are_known_, [this] { programs_ = find_programs_of_ranks(); });
  return programs_;
}

std::vector<RanksOfProgram> LoopWork::find_programs_of_ranks() const {
  std::vector<RanksOfProgram> programs;
  if (loop_.known() || time_ == kWholeTrace) {
    programs = find_programs(trace_, loop_, of_ranks());
  } else {
    Families families = families_;
    const Loop whole(trace_, find_iterations(trace_, families, {}, *launch_index_));
    programs = find_programs(trace_, whole, of_ranks());
    RanksOfProgram rest;
    for (std::size_t i = 0; i < of_ranks().size(); ++i)
      if (whole.known() && !whole.of(of_ranks()[i].process)) rest.ranks.push_back(i);
    if (!rest.ranks.empty()) programs.push_back(std::move(rest));
  }
  for (RanksOfProgram& program : programs) {
    program.number = 1 + (&program - programs.data());
    std::vector<RankWork> ranks;
    for (const std::size_t rank : program.ranks) ranks.push_back(of_ranks()[rank]);
    program.waits = find_rank_waits(trace_, ranks);
  }
  return programs;
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
  if (loop.is_of_several_programs()) return Message("the loops of the processes");
  return loop.family() == 0 ? Message("the time in which its work repeats") : loop_text(families.text(loop.family()));
}

Message LoopWork::text(const RanksOfProgram& program) const {
  if (!loop_.known()) return Message("the time");
  return program.family == 0 ? Message("the time in which its work repeats") : loop_text(families_.text(program.family));
}

std::string_view when_text(const Loop& loop, Recurrence recurrence) noexcept { return recurrence == Recurrence::kOnce ? "once" : loop.known() ? "loop" : ""; }

namespace {

// For each process, the end of its last work on a GPU.
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

std::map<ProcessId, LoopTime> loop_times(const Trace& trace) {
  const RuleContext context{.trace = trace};
  const LoopWork work(context);
  std::map<ProcessId, LoopTime> times;
  if (!work.loop().known()) return times;
  const std::map<ProcessId, Nanoseconds> ends = ends_of_gpu_work(trace);
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    std::optional<TimeRange> time = work.of_process(process);
    if (!time) continue;
    const FamilyId family = work.loop().family(process);
    if (const auto end = ends.find(process); family == 0 && end != ends.end()) time->end = std::min(time->end, end->second);
    if (const auto part = saved_part_of(trace, part_of_process(trace, process))) time = time->intersected(part->time);
    if (!time->empty()) times[process] = {*time, std::string(loop_name(work.families().text(family))), work.loop().iterations(process)};
  }
  return times;
}

}  // namespace lanescope::analysis
