// How much of the GPUs' work the program waits for: only that work makes the program faster if it takes less time.
//
// If the CPU enqueues work more slowly than a GPU does it, the GPU runs out of work again and again. If a kernel in front of such a gap took less time,
// the gap would only be longer by that: nothing else would come sooner. So the work of a GPU is cut at the points at which it runs out of work. Work in
// front of a cut is awaited if a thread of the process waited for the GPU when the gap started; its end then decides when the program goes on. The work
// is hidden if the thread that enqueued the operation at the end of the gap was on its way there, or waited for something else. Outside of CUDA's
// calls, while no thread of its process is in one that waits, only functions that the GPU calls, and pages of unified memory, make it wait for the GPU.
// The last work is awaited. If it can't be told, as for programs that use these, for launches that were not recorded, or for a GPU that several
// processes use, work counts as awaited: the result is the most by which the program could be faster.
//
// A thread that waited for 1 ms is at most 1 ms faster, however much less the work takes.
//
// Threads: any.
#pragma once

#include <map>
#include <span>
#include <stop_token>
#include <utility>

#include "model/analysis/finding.h"
#include "model/events/launch_index.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

class LoopWork;

using KernelsOfGpu = std::pair<GpuId, NameId>;

class AwaitedWork {
 public:
  // For work that belongs to the loop and starts in the time. Reading counters of kernels empties the queue. So work of iterations in which they were
  // read is taken to be awaited as much as that of other iterations; if all iterations were disturbed, all work is. O(GPU work · log lanes + gaps ·
  // (threads + log n)).
  AwaitedWork(const Trace& trace, const LoopWork& work, const LaunchIndex& launches, TimeRange time, const std::stop_token& stop);

  // The most by which the program could be faster if launches of these kernels, which take `time`, took `saved` less, each by the same share.
  [[nodiscard]] Nanoseconds awaited_of(Nanoseconds saved, Nanoseconds time, std::span<const KernelsOfGpu> kernels) const;

 private:
  struct Times {
    Nanoseconds total = 0;
    Nanoseconds awaited = 0;
    Nanoseconds waited = 0;     // for how long threads waited for work that included these
    Nanoseconds disturbed = 0;  // not in the total: in iterations in which counters were read
  };
  std::map<KernelsOfGpu, Times> times_;
  void count_disturbed() noexcept;
  class Sections;
};

// Adds to a finding what part of its cost is hidden. The finding is about launches of these kernels, which take `time`. Does nothing if the cost is
// paid once.
void tell_hidden(const AwaitedWork& awaited, Nanoseconds time, std::span<const KernelsOfGpu> kernels, Finding& finding);

}  // namespace lanescope::analysis
