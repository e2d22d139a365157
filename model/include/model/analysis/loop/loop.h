// The loop of a program: an NVTX range that repeats, and the time that its iterations take without those that warm up. Of a program that
// marks none, the time from when on its GPU work repeats.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/families.h"
#include "model/analysis/finding.h"
#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct IterationSeries;

// The loop of each process, without the iterations that warm up. What lies outside of it is paid once.
class Loop {
 public:
  Loop() = default;  // not known: all goes on
  Loop(const Trace& trace, Families& families);
  // Of iterations that were found already (iterations.h).
  Loop(const Trace& trace, const std::vector<IterationSeries>& all);
  [[nodiscard]] bool known() const noexcept { return !by_process_.empty(); }
  // Of the ranges of its iterations; 0 where its GPU work alone tells the loop.
  [[nodiscard]] FamilyId family() const noexcept { return family_; }
  // Of idle time at t in front of an operation that was enqueued at `enqueued`: GPUs go on with the loop's work after the CPU has left it.
  [[nodiscard]] Recurrence recurrence(ProcessId process, Nanoseconds t, Nanoseconds enqueued) const {
    const auto found = by_process_.find(process);
    const bool in_loop = found == by_process_.end() || (t >= found->second.begin && std::min(t, enqueued) < found->second.end);
    return in_loop ? Recurrence::kRecurring : Recurrence::kOnce;
  }
  // That of a process; none where it takes no part.
  [[nodiscard]] std::optional<TimeRange> of(ProcessId process) const {
    const auto found = by_process_.find(process);
    return found == by_process_.end() ? std::nullopt : std::optional(found->second);
  }
  // Of all processes, without those that warm up; 0 where no ranges mark them.
  [[nodiscard]] std::size_t iterations() const noexcept { return iterations_; }
  // Of all processes, that the recording does not have whole, so that the loop is without them (iterations.h).
  [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] std::size_t processes() const noexcept { return by_process_.size(); }
  // How many runs they are: processes whose loops run at the same time are ranks of one. O(processes · log processes).
  [[nodiscard]] std::size_t runs() const;

 private:
  std::map<ProcessId, TimeRange> by_process_;
  FamilyId family_ = 0;
  std::size_t iterations_ = 0;
  std::size_t left_out_ = 0;
};

// The loop as those see it who look at CPU and GPU together.
struct LoopTimes {
  std::string name;            // of its ranges (loop_name()); empty where GPU work alone tells it
  std::size_t iterations = 0;  // as Loop has them
  // From where a process enters the loop to where it leaves it, or the GPU work that it enqueued there ends; where no ranges mark iterations, to where its GPU
  // work ends. Of a part of a recording, as far as it lies in the time that was asked for. None of processes that take no part.
  std::map<ProcessId, TimeRange> by_process;
};
// O(NVTX ranges, or else GPU work, and launches). Any thread.
[[nodiscard]] LoopTimes loop_times(const Trace& trace);

// What the iterations of a loop are called, which are ranges of the family: "step_*"; of executions of an XLA module, the module: "jit_step".
[[nodiscard]] std::string_view loop_name(std::string_view family) noexcept;

}  // namespace lanescope::analysis
