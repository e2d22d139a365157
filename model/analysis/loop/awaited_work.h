// How much of what GPUs do the program waits for: only that makes it faster where it takes less.
//
// Where the CPU enqueues work more slowly than a GPU does it, the GPU runs out of work again and again. A kernel in front of such a gap could take
// less, and the gap would be longer by that: nothing else would come sooner. So the work of a GPU is cut where it runs out of work. Work in front
// of a cut is awaited where a thread of the process waited for the GPU when the gap began; its end then decides when the program goes on. It is hidden where
// the thread that enqueued what ends the gap was on its way there, or waited for something else: outside of CUDA's calls, while no thread of its process was in
// one that waits, only functions that the GPU calls, and pages of unified memory, make it wait for the GPU. The last work is awaited. Where it can't be told,
// as of programs that use these, of launches that were not recorded, or of a GPU that several processes use, work counts as awaited: what is told is the most
// that the program could be faster.
//
// A thread that waited for 1 ms is no more than 1 ms faster, however much less the work takes.
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
  // Of work that belongs to the loop and begins in the time. Where counters of kernels were read, which has emptied the queue, work of the iterations in which
  // they were is taken to be awaited as that of the others is; where no others were left alone, all is. O(GPU work · log lanes + gaps · (threads + log n)).
  AwaitedWork(const Trace& trace, const LoopWork& work, const LaunchIndex& launches, TimeRange time, const std::stop_token& stop);

  // The most that the program could be faster by where launches of these kernels that take so long take `saved` less, each by the same share.
  [[nodiscard]] Nanoseconds awaited_of(Nanoseconds saved, Nanoseconds time, std::span<const KernelsOfGpu> kernels) const;

 private:
  struct Times {
    Nanoseconds total = 0;
    Nanoseconds awaited = 0;
    Nanoseconds waited = 0;     // for how long threads waited for work in which these were
    Nanoseconds disturbed = 0;  // beside the total, in iterations in which counters were read
  };
  std::map<KernelsOfGpu, Times> times_;
  void count_disturbed() noexcept;
  class Sections;
};

// Says of a finding what of its cost is hidden. It is about launches of these kernels that take so long. Nothing where that is paid once.
void tell_hidden(const AwaitedWork& awaited, Nanoseconds time, std::span<const KernelsOfGpu> kernels, Finding& finding);

}  // namespace lanescope::analysis
