#include "attribution.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "counter_readings.h"
#include "ranks/rank_work.h"

namespace lanescope::analysis {
namespace {

// An enqueued operation that starts within this time after its call's end was only on its way to an empty GPU.
constexpr Nanoseconds kLaunchLatency = 10'000;

}  // namespace

Readings find_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop) {
  Readings readings;
  for (const CounterReading& reading : counter_readings(trace, launches, stop)) {
    readings.resize(trace.gpus().size());
    if (reading.gpu < readings.size()) readings[reading.gpu].push_back({reading.time, reading.call});
  }
  for (std::vector<Reading>& of_gpu : readings) {
    std::sort(of_gpu.begin(), of_gpu.end(), [](const Reading& a, const Reading& b) { return a.time.begin < b.time.begin; });
    Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
    for (Reading& reading : of_gpu) {
      reading.time.begin = std::max(reading.time.begin, end);
      end = std::max(end, reading.time.end);
    }
    std::erase_if(of_gpu, [](const Reading& reading) { return reading.time.end <= reading.time.begin; });
  }
  return readings;
}

Attribution::Attribution(const Trace& trace, const LaunchIndex& launches, const Readings& readings)
    : trace_(trace), launches_(launches), names_(trace), tracks_(trace), threads_(trace.threads().size()), readings_(readings) {}

IdleGap Attribution::gap_of(GpuId gpu, TimeRange idle, const GpuOperation& next) const {
  IdleGap gap{gpu, idle, next.event, launches_.find(next.process, next.correlation, next.range.begin), {}};
  if (gap.launch.valid()) gap.launch_time = range_of(gap.launch);
  return gap;
}

void Attribution::attribute(const IdleGap& gap, const GpuOperation& next, std::vector<IdlePart>& parts) {
  parts.clear();
  attribute_to_launch(gap, next, parts);
  if (!readings_.empty()) attribute_to_readings(gap, parts);
}

void Attribution::attribute_to_launch(const IdleGap& gap, const GpuOperation& next, std::vector<IdlePart>& parts) {
  if (!gap.launch.valid()) {
    parts.push_back({gap.range, moves_unified_memory(next) ? IdleCause::kMigration : IdleCause::kUnknown, 0, {}});
    return;
  }
  const TimeRange call = gap.launch_time;
  ThreadActivity& thread = activity_of(trace_.track_of(gap.launch.lane).key.thread);
  before_launch(thread, gap.range.intersected({gap.range.begin, call.begin}), parts);
  const IdlePart launching = launching_part(gap, next, thread, parts);
  append(parts, launching, gap.range.intersected(call));
  after_launch(gap, next, thread, call.end, launching, parts);
}

// While a kernel is run again for its counters it has the GPU to itself, whichever thread would launch next. This has also emptied the queue, which
// would have hidden later launches and the code between them.
void Attribution::attribute_to_readings(const IdleGap& gap, std::vector<IdlePart>& parts) {
  const std::vector<Reading>& readings = readings_[gap.gpu];
  auto reading =
      std::upper_bound(readings.begin(), readings.end(), gap.range.begin, [](Nanoseconds t, const Reading& candidate) { return t < candidate.time.end; });
  if (reading == readings.end() || reading->time.begin >= gap.range.end) return;
  without_readings_.swap(parts);
  parts.clear();
  for (const IdlePart& part : without_readings_) {
    Nanoseconds t = part.range.begin;
    for (; reading != readings.end() && reading->time.begin < part.range.end; ++reading) {
      TimeRange time = reading->time;
      const auto next = std::next(reading);
      const Nanoseconds behind = next == readings.end() ? gap.range.end : std::min(gap.range.end, next->time.begin);
      if (behind - time.end <= kShortGap) time.end = std::max(time.end, behind);
      const TimeRange within = time.intersected(part.range);
      append(parts, part, {t, within.begin});
      append(parts, {{}, IdleCause::kOverhead, reading->call, part.nvtx}, within);
      t = within.end;
      if (time.end > part.range.end) break;
    }
    append(parts, part, {t, part.range.end});
  }
}

Attribution::Surroundings& Attribution::around(const IdleGap& gap, ThreadActivity& thread) {
  if (last_.launch != gap.launch) last_ = {gap.launch, thread.innermost_range(gap.launch_time.begin), std::nullopt};
  return last_;
}

NameId Attribution::wait_before(const IdleGap& gap, ThreadActivity& thread) {
  Surroundings& known = around(gap, thread);
  if (!known.wait) known.wait = thread.stream_wait_before(gap.launch);
  return *known.wait;
}

TimeRange Attribution::range_of(EventRef event) const {
  const Lane& lane = trace_.lane(event.lane);
  return {lane.start(event.index), lane.end(event.index)};
}

ThreadActivity& Attribution::activity_of(ThreadId thread) {
  if (!threads_[thread]) threads_[thread] = std::make_unique<ThreadActivity>(trace_, tracks_, thread, names_);
  return *threads_[thread];
}

void Attribution::append(std::vector<IdlePart>& parts, IdlePart part, TimeRange range) {
  if (range.empty()) return;
  part.range = range;
  IdlePart* const last = parts.empty() ? nullptr : &parts.back();
  const bool goes_on = last != nullptr && last->cause == part.cause && last->call == part.call && last->nvtx == part.nvtx;
  if (goes_on)
    last->range.end = range.end;
  else
    parts.push_back(part);
}

void Attribution::before_launch(ThreadActivity& thread, TimeRange window, std::vector<IdlePart>& parts) {
  if (window.empty()) return;
  pieces_.clear();
  thread.describe(window, pieces_);
  for (const Activity& piece : pieces_) parts.push_back({piece.range, piece.cause, piece.call, piece.nvtx});
  // The call of an asynchronous copy that lasts longer than the work it enqueued did not return before the copy was done.
  IdlePart& first = parts.front();
  if (first.cause == IdleCause::kLaunch && trace_.name(first.call).find("Memcpy") != std::string_view::npos) first.cause = IdleCause::kCopy;
}

// True if a wait or a blocking copy, in which the gap started, has emptied the GPU's queue. The queue would have hidden what ended at `enqueued`.
bool Attribution::has_emptied_queue(const std::vector<IdlePart>& before, Nanoseconds enqueued) {
  if (before.empty() || (before.front().cause != IdleCause::kSynchronize && before.front().cause != IdleCause::kCopy)) return false;
  const IdlePart& wait = before.front();
  Nanoseconds end = wait.range.end;
  for (const IdlePart& part : before)
    if (part.cause == wait.cause && part.call == wait.call && part.range.begin == end) end = part.range.end;
  return enqueued - end <= kLongLaunch;
}

// The launching call, and the way from there to the GPU. They are hidden behind earlier work unless a wait or a blocking copy of the same thread had
// emptied the GPU's queue; then that is the cause.
IdlePart Attribution::launching_part(const IdleGap& gap, const GpuOperation& next, ThreadActivity& thread, const std::vector<IdlePart>& before) {
  IdlePart part;
  if (has_emptied_queue(before, gap.launch_time.end)) {
    part.cause = before.front().cause;
    part.call = before.front().call;
    part.nvtx = before.front().nvtx;
    return part;
  }
  part.nvtx = around(gap, thread).range;
  part.call = trace_.lane(gap.launch.lane).name(gap.launch.index);
  const bool copies = names_.cuda_call(part.call) == CallClass::kCopy || copies_pageable_memory(next);
  part.cause = copies ? IdleCause::kCopy : IdleCause::kLaunch;
  const Lane& calls = trace_.lane(gap.launch.lane);
  if (names_.measured.contains(trace_.track_of(gap.launch.lane).key.process, calls.correlation(gap.launch.index))) part.cause = IdleCause::kOverhead;
  return part;
}

void Attribution::after_launch(const IdleGap& gap, const GpuOperation& next, ThreadActivity& thread, Nanoseconds enqueued, const IdlePart& launching,
                               std::vector<IdlePart>& parts) {
  const TimeRange rest = gap.range.intersected({enqueued, gap.range.end});
  if (rest.empty()) return;
  if (enqueued > gap.range.begin && rest.length() <= kLaunchLatency) {
    append(parts, launching, rest);
    return;
  }
  IdlePart part;
  part.nvtx = around(gap, thread).range;
  part.call = wait_before(gap, thread);
  part.cause = is_communication(next) ? IdleCause::kCommunication : IdleCause::kDependency;
  append(parts, part, rest);
}

const MemoryDetail* Attribution::memory_detail(const GpuOperation& operation) const {
  return operation.kind == TrackKind::kMemory ? &trace_.memory_detail(operation.detail) : nullptr;
}

bool Attribution::copies_pageable_memory(const GpuOperation& operation) const {
  const MemoryDetail* detail = memory_detail(operation);
  return detail != nullptr && moves_pageable_memory(*detail);
}

bool Attribution::moves_unified_memory(const GpuOperation& operation) const {
  const MemoryDetail* detail = memory_detail(operation);
  return detail != nullptr && detail->copy_kind >= CopyKind::kUnifiedHostToDevice && detail->copy_kind <= CopyKind::kUnifiedDeviceToDevice;
}

bool Attribution::is_communication(const GpuOperation& operation) { return operation.kind == TrackKind::kKernels && names_.communication(operation.name); }

}  // namespace lanescope::analysis
