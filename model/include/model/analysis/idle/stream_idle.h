// Idle time between the operations of each stream, by the cause for which the next operation waited. HolisticTraceAnalysis calls it the idle time
// breakdown. Unlike idle time of a GPU (model/analysis/idle/idle.h), it includes time in which another stream ran.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct StreamIdle {
  ProcessId process = kNone;
  GpuId gpu = kNone;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint64_t operations = 0;
  Nanoseconds busy = 0;
  Nanoseconds host_wait = 0;    // the next operation's launch started after the previous operation's end
  Nanoseconds kernel_wait = 0;  // otherwise, gaps shorter than `kernel_gap`
  Nanoseconds other = 0;        // the rest: the operation was enqueued and waited
};

inline constexpr Nanoseconds kDefaultKernelGap = 30'000;

// If a time is given, operations count that start in it, and gaps as far as they lie in it; streams that have neither are left out. O(n log lanes).
[[nodiscard]] std::vector<StreamIdle> break_down_stream_idle(const Trace& trace, const LaunchIndex& launches, TimeRange time = {INT64_MIN, INT64_MAX},
                                                             Nanoseconds kernel_gap = kDefaultKernelGap, const std::stop_token& stop = {});

}  // namespace lanescope::analysis
