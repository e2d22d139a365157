// Idle time in groups: what has a cause, an NVTX range and a call in common, in the program's loop or outside of it.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "../families.h"
#include "model/analysis/finding.h"
#include "model/analysis/idle.h"

namespace lanescope::analysis {

// The loop of each process, without the iterations that warm up. What lies outside of it is paid once.
class Loop {
 public:
  Loop(const Trace& trace, Families& families);
  [[nodiscard]] bool known() const noexcept { return family_ != 0; }
  [[nodiscard]] FamilyId family() const noexcept { return family_; }
  // Of idle time at t in front of an operation that was enqueued at `enqueued`: GPUs go on with the loop's work after the CPU has left it.
  [[nodiscard]] Recurrence recurrence(ProcessId process, Nanoseconds t, Nanoseconds enqueued) const {
    const auto found = by_process_.find(process);
    const bool in_loop = found == by_process_.end() || (t >= found->second.begin && std::min(t, enqueued) < found->second.end);
    return in_loop ? Recurrence::kRecurring : Recurrence::kOnce;
  }
  // From where the first process entered the loop to where the last left it. Requires: known().
  [[nodiscard]] TimeRange hull() const noexcept { return hull_; }

 private:
  std::map<ProcessId, TimeRange> by_process_;
  TimeRange hull_;
  FamilyId family_ = 0;
};

// Idle time that has a cause, a range and a call in common, in the loop or outside of it.
struct Group {
  Recurrence recurrence = Recurrence::kRecurring;
  IdleCause cause = IdleCause::kUnknown;
  FamilyId family = 0;
  NameId call = 0;
  std::uint64_t parts = 0;
  Nanoseconds total = 0;
  Nanoseconds longest = 0;
  IdleGap longest_gap;  // the gap with the longest part
};

struct CauseSum {
  std::uint64_t parts = 0;
  Nanoseconds total = 0;
  void add(const IdlePart& part) {
    ++parts;
    total += part.range.length();
  }
};

struct IdleGroups {
  std::vector<GpuIdle> gpus;
  std::vector<Group> groups;  // by time, the largest first
  std::map<GpuId, std::array<CauseSum, kIdleCauses>> causes;
  std::array<CauseSum, kIdleCauses> recurring{};  // in the loop, all GPUs
  CauseSum once;                                  // outside of it
  Nanoseconds span = 0;                           // time of all GPUs that belongs to the loop
  [[nodiscard]] Nanoseconds idle() const {
    Nanoseconds sum = 0;
    for (const GpuIdle& gpu : gpus) sum += gpu.idle;
    return sum;
  }
};

// Groups the idle time of gaps of `threshold` or longer. O(n log n).
[[nodiscard]] IdleGroups group_idle(const Trace& trace, Families& families, const Loop& loop, Nanoseconds threshold);

}  // namespace lanescope::analysis
