// Idle time in groups: with the same cause, NVTX range and call, in the program's loop or outside of it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "loop/loop_work.h"
#include "meanwhile.h"
#include "model/analysis/finding.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"
#include "model/samples/thread_samples.h"

namespace lanescope::analysis {

// Idle time with the same cause, range and call, in the loop or outside of it.
struct Group {
  Recurrence recurrence = Recurrence::kRecurring;
  IdleCause cause = IdleCause::kUnknown;
  FamilyId family = 0;
  NameId call = 0;
  bool is_reading = false;  // counters of kernels were read, as was asked for
  std::uint64_t parts = 0;
  Nanoseconds total = 0;
  Nanoseconds longest = 0;
  IdleGap longest_gap;           // the gap with the longest part
  samples::ChainCounts samples;  // of CPU code: samples of what its threads ran
  std::set<ProcessId> ran;       // of CPU code: the processes of these threads
  struct OfGpu {
    std::uint64_t parts = 0;
    Nanoseconds total = 0;
    Nanoseconds longest = 0;
    Nanoseconds longest_gap_begin = 0;
  };
  std::map<GpuId, OfGpu> by_gpu;  // everything except the samples
};

struct CauseSum {
  std::uint64_t parts = 0;
  Nanoseconds total = 0;
  void add(Nanoseconds time) {
    ++parts;
    total += time;
  }
};

// Gaps in which one cause has a part, and its part of them.
struct GapsOfCause {
  std::uint64_t gaps = 0;
  Nanoseconds total = 0;
  Nanoseconds in_short_gaps = 0;  // part in gaps of at most kShortGap
  Nanoseconds without_waits = 0;  // part in front of work of processes whose recording shows no waits of threads (shows_waits)
  Nanoseconds longest = 0;        // in the gap with the longest part...
  IdleGap longest_gap;            // ...and that gap
  Nanoseconds reading = 0;        // the part of that gap in which counters of kernels were read
  enum class Waits : std::uint8_t { kAreShown, kAreNotShown };
  void add(const IdleGap& gap, Nanoseconds part, Nanoseconds reading_in_gap, Waits waits);
};

// Idle time of one cause in the loop.
struct CauseInLoop {
  GapsOfCause all;  // of all GPUs together
  std::map<GpuId, GapsOfCause> gpus;
  std::map<NameId, Nanoseconds> calls;
  struct Within {
    Nanoseconds time = 0;
    std::size_t depth = 0;  // the largest number of ranges around one of these
  };
  std::map<FamilyId, Within> within;       // its time in ranges of a family, whatever ranges lie between
  std::map<FamilyId, Nanoseconds> phases;  // its time by the outermost range inside the loop's: these do not overlap
  samples::ChainCounts samples;            // of CPU code: samples of what its threads ran
  std::set<ProcessId> ran;                 // of CPU code: the processes of these threads
  Nanoseconds behind_waits = 0;            // for CPU code and launches in short gaps: the part that is due to waits of the same threads (lost_lead.h)
  StillTimes still;                        // the times at which threads were blocked
};

struct IdleGroups {
  std::vector<GpuIdle> gpus;
  std::map<GpuId, Nanoseconds> spans;  // time of each GPU that belongs to the loop, without reading counters of kernels, and without disturbed iterations
  std::vector<Group> groups;           // by time, the largest first
  // Idle time of a GPU in the loop, or outside of it.
  struct OfGpu {
    std::array<CauseSum, kIdleCauses> causes;
    CauseSum in_short_gaps;  // below the threshold, of any cause
    [[nodiscard]] Nanoseconds total() const {
      Nanoseconds sum = in_short_gaps.total;
      for (const CauseSum& cause : causes) sum += cause.total;
      return sum;
    }
  };
  std::map<GpuId, std::array<OfGpu, 2>> by_gpu;      // by recurrence
  std::array<CauseInLoop, kIdleCauses> recurring{};  // without reading counters of kernels
  NameId waiting_call = 0;                           // the call to which most of the time after waits is due; 0 if there is none
  CauseSum once;                                     // outside of the loop, without reading counters of kernels
  TimeRange time = kWholeTrace;                      // that counts
  Nanoseconds reading = 0;                           // in the loop, for reading counters of kernels
  Nanoseconds span = 0;                              // sum over all GPUs
  Nanoseconds short_idle = 0;                        // the part of the span in gaps below the threshold, in the loop without disturbed iterations
  // Of all GPUs, in the loop or outside of it.
  [[nodiscard]] Nanoseconds idle(Recurrence recurrence) const {
    Nanoseconds sum = 0;
    for (const auto& [gpu, idle] : by_gpu) sum += idle[static_cast<std::size_t>(recurrence)].total();
    return sum;
  }
  // In the loop, without the time for reading counters of kernels.
  [[nodiscard]] Nanoseconds recurring_idle() const {
    Nanoseconds sum = 0;
    for (const CauseInLoop& cause : recurring) sum += cause.all.total;
    return sum;
  }
};

// Groups the idle time of gaps of `threshold` or longer. O(n log n).
[[nodiscard]] IdleGroups group_idle(const RuleContext& context, Families& families, const LoopWork& work, Nanoseconds threshold);

}  // namespace lanescope::analysis
