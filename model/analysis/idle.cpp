#include "model/analysis/idle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "call_class.h"
#include "gpu_operations.h"
#include "model/trace/parallel.h"
#include "rank_work.h"
#include "thread_activity.h"

namespace lanescope::analysis {
namespace {

// An enqueued operation that starts within this time of its call's end was merely on its way to an empty GPU.
constexpr Nanoseconds kLaunchLatency = 10'000;

class Attribution {
 public:
  Attribution(const Trace& trace, const LaunchIndex& launches)
      : trace_(trace), launches_(launches), names_(trace), threads_(trace.threads().size()) {}

  [[nodiscard]] EventRef launch_of(EventRef operation) const {
    return launches_.find(trace_.track_of(operation.lane).key.process, trace_.lane(operation.lane).correlation(operation.index));
  }

  // Replaces `parts` by those of the gap.
  void attribute(const IdleGap& gap, std::vector<IdlePart>& parts) {
    parts.clear();
    if (!gap.launch.valid()) {
      parts.push_back({gap.range, IdleCause::kUnknown, 0, {}});
      return;
    }
    const TimeRange call = range_of(gap.launch);
    ThreadActivity& thread = activity_of(trace_.track_of(gap.launch.lane).key.thread);
    before_launch(thread, gap.range.intersected({gap.range.begin, call.begin}), parts);
    const IdlePart launching = launching_part(gap, thread, parts);
    append(parts, launching, gap.range.intersected(call));
    after_launch(gap, thread, call.end, launching, parts);
  }

 private:
  // What is known of a launching call: of a graph's launch, asked for each of its operations.
  struct Surroundings {
    EventRef launch;
    EventRef range;   // the innermost NVTX range
    NameId wait = 0;  // the call that makes a stream wait in front of it
  };
  const Surroundings& around(EventRef launch, ThreadActivity& thread) {
    if (last_.launch != launch)
      last_ = {launch, thread.innermost_range(trace_.lane(launch.lane).start(launch.index)), thread.stream_wait_before(launch)};
    return last_;
  }

  [[nodiscard]] TimeRange range_of(EventRef event) const {
    const Lane& lane = trace_.lane(event.lane);
    return {lane.start(event.index), lane.end(event.index)};
  }

  ThreadActivity& activity_of(ThreadId thread) {
    if (!threads_[thread]) threads_[thread] = std::make_unique<ThreadActivity>(trace_, thread, names_);
    return *threads_[thread];
  }

  static void append(std::vector<IdlePart>& parts, IdlePart part, TimeRange range) {
    if (range.empty()) return;
    part.range = range;
    IdlePart* const last = parts.empty() ? nullptr : &parts.back();
    const bool goes_on = last != nullptr && last->cause == part.cause && last->call == part.call && last->nvtx == part.nvtx;
    if (goes_on)
      last->range.end = range.end;
    else
      parts.push_back(part);
  }

  void before_launch(ThreadActivity& thread, TimeRange window, std::vector<IdlePart>& parts) {
    if (window.empty()) return;
    pieces_.clear();
    thread.describe(window, pieces_);
    for (const Activity& piece : pieces_) parts.push_back({piece.range, piece.cause, piece.call, piece.nvtx});
    // An asynchronous copy that outlasts what it enqueued did not return before the copy was done.
    IdlePart& first = parts.front();
    if (first.cause == IdleCause::kLaunch && trace_.name(first.call).find("Memcpy") != std::string_view::npos)
      first.cause = IdleCause::kCopy;
  }

  // The launching call, and the way from there to the GPU: hidden behind earlier work unless a wait or a blocking copy of the same thread
  // had emptied the GPU's queue, which is then the cause.
  IdlePart launching_part(const IdleGap& gap, ThreadActivity& thread, const std::vector<IdlePart>& before) {
    const bool emptied = !before.empty() && (before.front().cause == IdleCause::kSynchronize || before.front().cause == IdleCause::kCopy);
    IdlePart part;
    part.nvtx = around(gap.launch, thread).range;
    if (emptied) {
      part.cause = before.front().cause;
      part.call = before.front().call;
      return part;
    }
    part.call = trace_.lane(gap.launch.lane).name(gap.launch.index);
    const bool copies = names_.cuda_call(part.call) == CallClass::kCopy || copies_pageable_memory(gap.next);
    part.cause = copies ? IdleCause::kCopy : IdleCause::kLaunch;
    return part;
  }

  void after_launch(const IdleGap& gap, ThreadActivity& thread, Nanoseconds enqueued, const IdlePart& launching,
                    std::vector<IdlePart>& parts) {
    const TimeRange rest = gap.range.intersected({enqueued, gap.range.end});
    if (rest.empty()) return;
    if (enqueued > gap.range.begin && rest.length() <= kLaunchLatency) {
      append(parts, launching, rest);
      return;
    }
    IdlePart part;
    part.nvtx = around(gap.launch, thread).range;
    part.call = around(gap.launch, thread).wait;
    part.cause = is_communication(gap.next) ? IdleCause::kCommunication : IdleCause::kDependency;
    append(parts, part, rest);
  }

  [[nodiscard]] bool copies_pageable_memory(EventRef operation) const {
    return trace_.track_of(operation.lane).key.kind == TrackKind::kMemory &&
           moves_pageable_memory(trace_.memory_detail(trace_.lane(operation.lane).detail(operation.index)));
  }

  [[nodiscard]] bool is_communication(EventRef operation) {
    return trace_.track_of(operation.lane).key.kind == TrackKind::kKernels &&
           names_.communication(trace_.lane(operation.lane).name(operation.index));
  }

  const Trace& trace_;
  const LaunchIndex& launches_;
  NameClasses names_;
  std::vector<std::unique_ptr<ThreadActivity>> threads_;
  std::vector<Activity> pieces_;
  Surroundings last_;
};

struct CauseWords {
  std::string_view key, name, clause, advice;
};
constexpr std::array<CauseWords, kIdleCauses> kCauseWords{{
    {"launch", "Launch-bound", "because the next operation was still being launched",
     "Give the GPU more work per launch: larger batches, fused kernels, or a CUDA graph that launches many kernels at once."},
    {"synchronize", "Blocked in a synchronising call", "because the CPU waited for the GPU and left it without work",
     "Remove the wait, or wait for an event only where the result is needed; enqueue the next work before waiting."},
    {"copy", "In a blocking or pageable copy", "while the CPU was in a copy",
     "Copy from pinned memory with an asynchronous call on a stream of its own, so that kernels run meanwhile."},
    {"cuda_setup", "In other CUDA calls", "while the CPU allocated, loaded or configured CUDA resources",
     "Do it once before the loop: keep buffers, warm up modules, create streams and events ahead."},
    {"os_io", "Waiting for input or output", "while the launching thread read or wrote",
     "Read ahead on other threads, so that the data is there when it is needed (a DataLoader: more workers)."},
    {"os_lock", "Waiting for a lock or thread", "while the launching thread waited for a lock, condition or thread",
     "Look at who holds the lock or feeds the condition at this time; shorten what it does or take it off the launching thread."},
    {"os_sleep", "Sleeping", "while the launching thread slept",
     "Wait for the event that ends the wait instead of sleeping for a fixed time."},
    {"os_queue", "Waiting for data", "while the launching thread waited for data from a queue, socket or pipe",
     "Prepare data ahead of time: more workers, deeper prefetching, or a faster producer."},
    {"os_other", "In other C library calls", "while the launching thread was in a C library call",
     "Take the call off the launching thread, or enqueue the next work first."},
    {"os_blocked", "Blocked in the operating system", "while the launching thread was blocked in the operating system",
     "Record operating system calls as well (-t cuda,nvtx,osrt) to see what it waits for; then have that ready before it is needed."},
    {"os_processor", "Waiting for a processor", "while the launching thread was ready to run but got no processor",
     "Run fewer threads than there are processors (data loader workers, OMP_NUM_THREADS), or give the process more or its own processors."},
    {"cpu_code", "Running CPU code", "while the launching thread ran CPU code",
     "Make this code faster, move it to other threads (a data loader: more workers), or enqueue the next GPU work before it."},
    {"dependency", "Enqueued, waiting on the GPU",
     "although the next operation had been enqueued: it waited for another stream, event or host function",
     "Check what the stream waits for: drop waits that are not needed, and put independent work on other streams."},
    {"communication", "Communication", "while communication held back the next operation",
     "Overlap communication with computation: smaller buckets, an earlier start, a stream of its own."},
    {"overhead", "Profiler overhead", "while the profiler itself held up the launching thread",
     "It is not there without the profiler; record less (preset light) to see the program as it runs alone."},
    {"unknown", "Unknown", "and the launch of the next operation was not recorded",
     "Record CUDA API calls as well, and begin the recording before the work is enqueued."},
}};
const CauseWords& words(IdleCause cause) noexcept { return kCauseWords[static_cast<std::size_t>(cause)]; }

// Of the operations that start within the time, each with the gap in front of it.
GpuIdle visit_gpu(const Trace& trace, GpuId gpu, TimeRange time, Nanoseconds threshold, Attribution& attribution,
                  const IdleVisitor& visitor, const std::stop_token& stop) {
  GpuIdle sums;
  sums.gpu = gpu;
  const std::optional<Nanoseconds> busy_before = GpuOperations::busy_until(trace, gpu, time.begin);
  if (busy_before) sums.extent = {*busy_before, *busy_before};
  GpuOperations operations(trace, gpu, time, stop);
  std::vector<IdlePart> parts;
  while (const std::optional<GpuOperation> operation = operations.next()) {
    if (sums.operations++ == 0 && !busy_before) sums.extent = {operation->range.begin, operation->range.begin};
    const TimeRange idle{sums.extent.end, operation->range.begin};
    sums.extent.end = std::max(sums.extent.end, operation->range.end);
    if (idle.empty()) continue;
    sums.idle += idle.length();
    if (idle.length() < threshold) {
      ++sums.short_gaps;
      sums.short_idle += idle.length();
      continue;
    }
    ++sums.gaps;
    const IdleGap gap{gpu, idle, operation->event, attribution.launch_of(operation->event)};
    attribution.attribute(gap, parts);
    visitor(gap, parts);
  }
  return sums;
}

// Both of one GPU, the other behind these.
void add(GpuIdle& sums, const GpuIdle& behind) {
  if (behind.operations == 0) return;
  sums.extent = sums.operations == 0 ? behind.extent : TimeRange{sums.extent.begin, std::max(sums.extent.end, behind.extent.end)};
  sums.idle += behind.idle;
  sums.operations += behind.operations;
  sums.gaps += behind.gaps;
  sums.short_gaps += behind.short_gaps;
  sums.short_idle += behind.short_idle;
}

// Times that cut the GPU work into parts of about equal length; all time lies between the first and the last.
std::vector<Nanoseconds> cuts(const Trace& trace, std::size_t parts) {
  std::vector<Nanoseconds> starts;  // of segments, which are equally long
  if (parts > 1)
    for (const Track& track : trace.tracks())
      if (is_gpu_work(track.key.kind))
        for (const LaneId id : track.lanes)
          for (const auto& segment : trace.lane(id).segments()) starts.push_back(segment->start(0));
  std::sort(starts.begin(), starts.end());
  std::vector<Nanoseconds> times{std::numeric_limits<Nanoseconds>::min()};
  for (std::size_t part = 1; part < parts; ++part) times.push_back(starts.empty() ? times.front() : starts[starts.size() * part / parts]);
  times.push_back(std::numeric_limits<Nanoseconds>::max());
  return times;
}

}  // namespace

std::string_view idle_cause_key(IdleCause cause) noexcept { return words(cause).key; }
std::string_view idle_cause_name(IdleCause cause) noexcept { return words(cause).name; }
std::string_view idle_cause_clause(IdleCause cause) noexcept { return words(cause).clause; }
std::string_view idle_cause_advice(IdleCause cause) noexcept { return words(cause).advice; }

std::vector<GpuIdle> visit_idle(const Trace& trace, Nanoseconds threshold, const IdleVisitor& visitor, std::stop_token stop) {
  return visit_idle(trace, LaunchIndex(trace, stop), threshold, visitor, stop);
}

std::vector<GpuIdle> visit_idle(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, const IdleVisitor& visitor,
                                std::stop_token stop) {
  return visit_idle_in_parts(trace, launches, threshold, {&visitor, 1}, std::move(stop));
}

std::vector<GpuIdle> visit_idle_in_parts(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold,
                                         std::span<const IdleVisitor> visitors, std::stop_token stop) {
  const std::vector<Nanoseconds> times = cuts(trace, visitors.size());
  std::vector<std::vector<GpuIdle>> parts(visitors.size());
  parallel_for(visitors.size(), [&](std::size_t part) {
    Attribution attribution(trace, launches);
    for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu)
      parts[part].push_back(visit_gpu(trace, gpu, {times[part], times[part + 1]}, threshold, attribution, visitors[part], stop));
  });
  std::vector<GpuIdle> gpus;
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    GpuIdle sums;
    sums.gpu = gpu;
    for (const std::vector<GpuIdle>& part : parts) add(sums, part[gpu]);
    if (sums.operations > 0) gpus.push_back(sums);
  }
  return gpus;
}

IdleCause Bubble::main_cause() const noexcept {
  std::array<Nanoseconds, kIdleCauses> time{};
  for (const IdlePart& part : parts) time[static_cast<std::size_t>(part.cause)] += part.range.length();
  return static_cast<IdleCause>(std::max_element(time.begin(), time.end()) - time.begin());
}

Bubbles find_bubbles(const Trace& trace, Nanoseconds threshold, std::stop_token stop) {
  Bubbles found;
  found.gpus = visit_idle(
      trace, threshold,
      [&](const IdleGap& gap, std::span<const IdlePart> parts) {
        found.bubbles.push_back({gap, {parts.begin(), parts.end()}});
      },
      stop);
  return found;
}

}  // namespace lanescope::analysis
