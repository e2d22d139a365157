// Idle time in groups: what has a cause, an NVTX range and a call in common, in the program's loop or outside of it.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "loop/loop_work.h"
#include "meanwhile.h"
#include "model/analysis/finding.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"
#include "model/samples/thread_samples.h"

namespace lanescope::analysis {

// Idle time that has a cause, a range and a call in common, in the loop or outside of it.
struct Group {
  Recurrence recurrence = Recurrence::kRecurring;
  IdleCause cause = IdleCause::kUnknown;
  FamilyId family = 0;
  NameId call = 0;
  std::uint64_t parts = 0;
  Nanoseconds total = 0;
  Nanoseconds longest = 0;
  IdleGap longest_gap;           // the gap with the longest part
  samples::ChainCounts samples;  // of CPU code: what its threads were seen to run
  struct OfGpu {
    std::uint64_t parts = 0;
    Nanoseconds total = 0;
    Nanoseconds longest = 0;
    Nanoseconds longest_gap_begin = 0;
  };
  std::map<GpuId, OfGpu> by_gpu;  // all but the samples
};

struct CauseSum {
  std::uint64_t parts = 0;
  Nanoseconds total = 0;
  void add(Nanoseconds time) {
    ++parts;
    total += time;
  }
};

// Gaps that one cause has a part of, and its part in them.
struct GapsOfCause {
  std::uint64_t gaps = 0;
  Nanoseconds total = 0;
  Nanoseconds in_short_gaps = 0;  // of gaps of at most kShortGap
  Nanoseconds longest = 0;        // in the gap that has most of it...
  IdleGap longest_gap;            // ...and that gap
  void add(const IdleGap& gap, Nanoseconds part);
};

// Idle time of one cause in the loop.
struct CauseInLoop {
  GapsOfCause all;  // of all GPUs together
  std::map<GpuId, GapsOfCause> gpus;
  std::map<NameId, Nanoseconds> calls;
  struct Within {
    Nanoseconds time = 0;
    std::size_t depth = 0;  // how many ranges were around one of these at most
  };
  std::map<FamilyId, Within> within;       // its time in ranges of a family, whatever lies between
  std::map<FamilyId, Nanoseconds> phases;  // its time by the outermost range inside the loop's: these do not overlap
  samples::ChainCounts samples;            // of CPU code: what its threads were seen to run
  Nanoseconds behind_waits = 0;            // of CPU code and launches in short gaps: what is due to waits of the same threads (lost_lead.h)
  StillTimes still;                        // of threads that were blocked: when
};

struct IdleGroups {
  std::vector<GpuIdle> gpus;
  std::map<GpuId, Nanoseconds> spans;  // time of each that belongs to the loop, less what reading counters of kernels took, and iterations that it disturbed
  std::vector<Group> groups;           // by time, the largest first
  // Idle time of a GPU in the loop, or outside of it.
  struct OfGpu {
    std::array<CauseSum, kIdleCauses> causes;
    CauseSum in_short_gaps;  // below the threshold, whatever their cause
  };
  std::map<GpuId, std::array<OfGpu, 2>> by_gpu;  // by recurrence
  std::array<CauseInLoop, kIdleCauses> recurring{};
  NameId waiting_call = 0;       // that most of what lies behind waits is due to; 0 where nothing is
  CauseSum once;                 // outside of the loop, without reading counters of kernels
  TimeRange time = kWholeTrace;  // that counts
  bool are_counters_read = false;
  Nanoseconds span = 0;        // of all GPUs together
  Nanoseconds short_idle = 0;  // of it, in gaps below the threshold, of the loop without disturbed iterations
  [[nodiscard]] Nanoseconds idle() const {
    Nanoseconds sum = 0;
    for (const GpuIdle& gpu : gpus) sum += gpu.idle;
    return sum;
  }
  // In the loop, without reading counters of kernels.
  [[nodiscard]] Nanoseconds recurring_idle() const {
    Nanoseconds sum = 0;
    for (const CauseInLoop& cause : recurring) sum += cause.all.total;
    return sum - reading();
  }
  // In the loop, what went into reading counters of kernels.
  [[nodiscard]] Nanoseconds reading() const noexcept { return are_counters_read ? recurring[static_cast<std::size_t>(IdleCause::kOverhead)].all.total : 0; }
};

// Groups the idle time of gaps of `threshold` or longer. O(n log n).
[[nodiscard]] IdleGroups group_idle(const RuleContext& context, Families& families, const LoopWork& work, Nanoseconds threshold);

}  // namespace lanescope::analysis
