// The iterations of a program's loop, identified by its NVTX ranges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/families.h"
#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// The iterations of one process, in order of time; they do not overlap.
struct IterationSeries {
  ProcessId process = kNone;
  ThreadId thread = kNone;  // of most of them, if several threads take turns
  FamilyId family = 0;
  std::vector<EventRef> ranges;
  enum class Extent : std::uint8_t {
    kRange,   // a range is an iteration
    kToNext,  // a range starts an iteration, which lasts until the next range starts: the last range starts none
  } extent = Extent::kRange;
  // How many of the first iterations warm up: consecutive iterations from the first on that take more than one and a half times the median; at most a fourth of
  // all. Ranks that step together warm up together.
  std::size_t warm_up = 0;
  std::size_t left_out = 0;   // iterations of the family that the recording does not have whole: they are not in `ranges`
  std::size_t inside = 0;     // ranges of the family on the thread that lie inside another of it: they are not in `ranges` either
  std::size_t elsewhere = 0;  // nor are ranges of the family on other threads of the process, which run at the same time
};
// O(iterations).
[[nodiscard]] std::vector<TimeRange> iteration_times(const Trace& trace, const IterationSeries& series);

// One series for each process that has ranges of the family `wanted` ("step_*"; a name such as "step_12" or "step" means its family).
// If `wanted` is empty, the family is chosen, from those of processes that use GPUs if there are any. Of the families that occur at least five times on
// a thread, at whatever nesting levels (if there are none, three times), it is the one that covers most time, and at least a fourth of its lane's span.
// Ranges inside another of the family do not count, unless fewer are left than one nesting level has: then it is the level that covers most time. For processes
// that use GPUs and do not have this family, such as those of another program, a family of their own is chosen in the same way; their series follow those of
// the first family. If the family is called epochs, those that count the steps or batches in them are taken, or else those that cover three quarters of their
// time. If all ranges of the family in a process take turns on several threads, all are its iterations; else those of the thread that has most. Ranges of
// communication libraries do not count. Neither do ranges that PyTorch marks by itself (operators, Python functions, parts of a step), except the steps of its
// profiler, nor those that XLA (JAX, TensorFlow) marks for its compilation and operations. If nothing else is found, the executions of an XLA module start
// iterations: of the module whose executions take most time, including the work that they launch on GPUs, but outside of compilation. Empty if there is no such
// family.
//
// Iterations that the recording does not have whole are left out. This is the iteration that was open when the process or its recording ended. For a
// process that was attached to, it is those that started before the first recorded GPU work was enqueued, because ranges and calls are recorded earlier
// than GPU work. For a saved part, it is those that its borders cut, those beside it, and those whose GPU work was partly done after it. Processes with
// equally many iterations leave out equally many, and none if none would be left.
//
// O(NVTX ranges); for XLA modules, saved parts and a process that was attached to, O(NVTX ranges, CUDA calls, and GPU work of the processes that have
// any). `launches` are the trace's; the second form has its own.
[[nodiscard]] std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted, SharedLaunchIndex& launches);
[[nodiscard]] std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted = {});

}  // namespace lanescope::analysis
