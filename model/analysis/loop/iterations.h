// The iterations of a program's loop, told by its NVTX ranges.
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
  ThreadId thread = kNone;
  FamilyId family = 0;
  std::vector<EventRef> ranges;
  enum class Extent : std::uint8_t {
    kRange,   // a range is an iteration
    kToNext,  // a range begins an iteration, which lasts until the next begins: the last range begins none
  } extent = Extent::kRange;
  std::size_t left_out = 0;  // of the family, which the recording does not have whole: they are not among `ranges`
};
// O(iterations).
[[nodiscard]] std::vector<TimeRange> iteration_times(const Trace& trace, const IterationSeries& series);

// One series for each process that has ranges of the family `wanted` ("step_*"; a name such as "step_12" or "step" means its family). Where
// `wanted` is empty, the family is chosen: of those that occur at least five times on a thread (else three), the one that covers most time,
// and at least a fourth of its lane's span.
// Ranges of communication libraries do not count, nor what PyTorch marks by itself
// (operators, Python functions, parts of a step), but for the steps of its profiler, nor what XLA (JAX, TensorFlow) marks of its
// compilation and operations. Where nothing else is found, the executions of an XLA module begin iterations: of the module whose take most
// time, with the work that they launch on GPUs, other than while the process compiles. None when there is no such family.
//
// Iterations that the recording does not have whole are left out: the one that was open when the process or its recording ended; and of a process
// that was attached to, those that began before the first of its GPU work that was recorded was enqueued, as ranges and calls are recorded earlier
// than GPU work is. Of a part that was saved, those that its borders cut, those that lie beside it, and those of whose GPU work some was done behind it.
// Processes that have equally many leave out equally many, and none where none would be left.
//
// O(NVTX ranges); for XLA modules, saved parts and a process that was attached to, O(NVTX ranges, CUDA calls, and GPU work of the processes that have any).
// `launches` are the trace's; the second form has its own.
[[nodiscard]] std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted, SharedLaunchIndex& launches);
[[nodiscard]] std::vector<IterationSeries> find_iterations(const Trace& trace, Families& families, std::string_view wanted = {});

// How many of the first iterations warm up: they take more than one and a half times the median, one after the other from the first on; at
// most a fourth of all. O(iterations).
[[nodiscard]] std::size_t warm_up_iterations(const Trace& trace, const IterationSeries& series);

}  // namespace lanescope::analysis
