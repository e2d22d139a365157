// The lead of launching threads over the GPU, and what is lost of it by waiting.
//
// A thread that launches faster than the GPU works is ahead of it, and what its code takes between two launches leaves no gap. A call that waits for
// the GPU costs it that lead: as long as the call blocks. Until the thread is ahead again the GPU is idle at each launch, though nothing of what runs in these
// gaps would have shown. So of the idle time behind a wait as much is due to the wait as the wait has blocked, and none once the thread has made as many
// calls as a queue holds: no thread can be further ahead.
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/trace/trace.h"
#include "threads/call_class.h"

namespace lanescope::analysis {

class LostLead {
 public:
  // Of waits in the loop. Both must outlive it.
  LostLead(const Trace& trace, const Loop& loop) : trace_(trace), loop_(loop), classes_(trace, classify_cuda_call) {}

  // What of so much idle time of a gap is due to waits of its launching thread; they account for as much less then. Requires: the gap's launch is valid, and
  // gaps come by GPU and time. O(1) for each call between the launches, 2,048 at most.
  [[nodiscard]] Nanoseconds take(const IdleGap& gap, Nanoseconds idle);
  // The call whose waits blocked longest; 0 where there was none.
  [[nodiscard]] NameId call() const noexcept;

 private:
  struct Wait {
    EventIndex call = 0;
    Nanoseconds lost = 0;  // that no idle time was laid to yet
  };
  struct Thread {
    EventIndex next_call = 0;  // the first that was not looked at
    std::deque<Wait> waits;    // by call; the last ones
  };
  [[nodiscard]] bool waits(const Lane& calls, EventIndex call);

  const Trace& trace_;
  const Loop& loop_;
  NameMemo<CallClass> classes_;
  std::map<std::pair<GpuId, LaneId>, Thread> threads_;  // by the lane of the thread's calls
  std::map<NameId, Nanoseconds> blocked_;
};

}  // namespace lanescope::analysis
