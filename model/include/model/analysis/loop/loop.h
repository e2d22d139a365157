// The loop of a program: an NVTX range that repeats, and the time that its iterations take, without those that warm up. If a program marks none, the
// loop is the time from which on its GPU work repeats. Programs that were recorded together have a loop each.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/families.h"
#include "model/analysis/finding.h"
#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct IterationSeries;

// The loop of each process, without the iterations that warm up. Time outside of it is paid once.
class Loop {
 public:
  Loop() = default;  // not known: everything recurs
  Loop(const Trace& trace, Families& families);
  // From iterations that were found already (iterations.h).
  Loop(const Trace& trace, const std::vector<IterationSeries>& all);
  [[nodiscard]] bool known() const noexcept { return !by_process_.empty(); }
  // The family of the ranges of its iterations; 0 if only its GPU work identifies the loop. For several programs, the family of the program whose
  // iterations cover most time.
  [[nodiscard]] FamilyId family() const noexcept { return family_; }
  // The family of a process; 0 if only its GPU work identifies its loop, or if it takes no part.
  [[nodiscard]] FamilyId family(ProcessId process) const {
    const auto found = by_process_.find(process);
    return found == by_process_.end() ? 0 : found->second.family;
  }
  // True if the family marks the iterations of any process.
  [[nodiscard]] bool marks(FamilyId family) const { return families_.contains(family); }
  // True if loops are marked by different ranges, or some are found by GPU work alone: processes of one program mark the same.
  [[nodiscard]] bool is_of_several_programs() const noexcept { return families_.size() > 1; }
  // Recurrence of idle time at t in front of an operation that was enqueued at `enqueued`: GPUs go on with the loop's work after the CPU has left it.
  [[nodiscard]] Recurrence recurrence(ProcessId process, Nanoseconds t, Nanoseconds enqueued) const {
    const auto found = by_process_.find(process);
    const bool in_loop = found == by_process_.end() || (t >= found->second.time.begin && std::min(t, enqueued) < found->second.time.end);
    return in_loop ? Recurrence::kRecurring : Recurrence::kOnce;
  }
  // The loop of a process; nothing if it takes no part.
  [[nodiscard]] std::optional<TimeRange> of(ProcessId process) const {
    const auto found = by_process_.find(process);
    return found == by_process_.end() ? std::nullopt : std::optional(found->second.time);
  }
  // Iterations of all processes, without those that warm up; 0 if no ranges mark them.
  [[nodiscard]] std::size_t iterations() const noexcept { return iterations_; }
  // The same for one process.
  [[nodiscard]] std::size_t iterations(ProcessId process) const {
    const auto found = by_process_.find(process);
    return found == by_process_.end() ? 0 : found->second.iterations;
  }
  // Iterations of all processes that the recording does not have whole, and that the loop therefore excludes (iterations.h).
  [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }
  // Ranges of all processes that would be iterations, but lie inside another one of the same family.
  [[nodiscard]] std::size_t inside() const noexcept { return inside_; }
  // Ranges of the same family on other threads of these processes, which run at the same time as the iterations.
  [[nodiscard]] std::size_t elsewhere() const noexcept { return elsewhere_; }
  [[nodiscard]] std::size_t processes() const noexcept { return by_process_.size(); }
  // The number of runs: processes whose loops run at the same time are ranks of one run. O(processes · log processes).
  [[nodiscard]] std::size_t runs() const;

 private:
  struct OfProcess {
    TimeRange time;
    FamilyId family = 0;
    std::size_t iterations = 0;
  };
  std::map<ProcessId, OfProcess> by_process_;
  std::set<FamilyId> families_;  // of all processes
  FamilyId family_ = 0;
  std::size_t iterations_ = 0;
  std::size_t left_out_ = 0;
  std::size_t inside_ = 0;
  std::size_t elsewhere_ = 0;
};

// The loop as it appears to code that looks at CPU and GPU together.
struct LoopTime {
  // From where the process enters the loop to where it leaves it, or to the end of the GPU work that it enqueued there. If no ranges mark iterations,
  // to the end of its GPU work. For a part of a recording, only what lies in the time that was asked for.
  TimeRange time;
  std::string name;            // of its ranges (loop_name()); empty if only GPU work identifies it
  std::size_t iterations = 0;  // of the process, without those that warm up; 0 if no ranges mark them
};
// The loop time of each process that takes part. O(NVTX ranges, or else GPU work, and launches). Any thread.
[[nodiscard]] std::map<ProcessId, LoopTime> loop_times(const Trace& trace);

// The length of each iteration of the loops of all processes, without those that warm up; as many as Loop::iterations(). O(NVTX ranges).
[[nodiscard]] std::vector<Nanoseconds> iteration_lengths(const Trace& trace);

// The name of the iterations of a loop, which are ranges of the family: "step_*"; for executions of an XLA module, the module: "jit_step".
[[nodiscard]] std::string_view loop_name(std::string_view family) noexcept;

}  // namespace lanescope::analysis
