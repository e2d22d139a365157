// The causes of a gap of a GPU: what the thread did that launched what came next, the launch itself, and the way from there to the GPU.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "gpu_operations.h"
#include "model/analysis/idle/idle.h"
#include "model/events/launch_index.h"
#include "threads/call_class.h"
#include "threads/thread_activity.h"

namespace lanescope::analysis {

// A call that launched a kernel whose counters were read.
struct Reading {
  TimeRange time;
  NameId call = 0;
};
using Readings = std::vector<std::vector<Reading>>;  // by GPU, in order, not overlapping; empty if no counters were read

// O(kernels) if counters were read, otherwise O(1).
[[nodiscard]] Readings find_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop);

// Keeps what it has looked up of names and threads, so one serves many gaps. Threads: one thread at a time.
class Attribution {
 public:
  // All must outlive it; `readings` are the trace's.
  Attribution(const Trace& trace, const LaunchIndex& launches, const Readings& readings);

  // The gap in front of an operation.
  [[nodiscard]] IdleGap gap_of(GpuId gpu, TimeRange idle, const GpuOperation& next) const;
  // Replaces `parts` by the parts of the gap, which the operation ends.
  void attribute(const IdleGap& gap, const GpuOperation& next, std::vector<IdlePart>& parts);

 private:
  // Data about a launching call. For the launch of a graph it is needed for each of its operations.
  struct Surroundings {
    EventRef launch;
    EventRef range;              // the innermost NVTX range
    std::optional<NameId> wait;  // the call that makes a stream wait in front of it, once that was asked for
  };

  void attribute_to_launch(const IdleGap& gap, const GpuOperation& next, std::vector<IdlePart>& parts);
  void attribute_to_readings(const IdleGap& gap, std::vector<IdlePart>& parts);
  Surroundings& around(const IdleGap& gap, ThreadActivity& thread);
  NameId wait_before(const IdleGap& gap, ThreadActivity& thread);
  [[nodiscard]] TimeRange range_of(EventRef event) const;
  ThreadActivity& activity_of(ThreadId thread);
  static void append(std::vector<IdlePart>& parts, IdlePart part, TimeRange range);
  void before_launch(ThreadActivity& thread, TimeRange window, std::vector<IdlePart>& parts);
  static bool has_emptied_queue(const std::vector<IdlePart>& before, Nanoseconds enqueued);
  IdlePart launching_part(const IdleGap& gap, const GpuOperation& next, ThreadActivity& thread, const std::vector<IdlePart>& before);
  void after_launch(const IdleGap& gap, const GpuOperation& next, ThreadActivity& thread, Nanoseconds enqueued, const IdlePart& launching,
                    std::vector<IdlePart>& parts);
  [[nodiscard]] const MemoryDetail* memory_detail(const GpuOperation& operation) const;
  [[nodiscard]] bool copies_pageable_memory(const GpuOperation& operation) const;
  [[nodiscard]] bool moves_unified_memory(const GpuOperation& operation) const;
  [[nodiscard]] bool is_communication(const GpuOperation& operation);

  const Trace& trace_;
  const LaunchIndex& launches_;
  NameClasses names_;
  ThreadTracks tracks_;
  std::vector<std::unique_ptr<ThreadActivity>> threads_;
  std::vector<Activity> pieces_;
  std::vector<IdlePart> without_readings_;
  Surroundings last_;
  const Readings& readings_;
};

}  // namespace lanescope::analysis
