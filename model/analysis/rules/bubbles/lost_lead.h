// The lead of launching threads over the GPU, and how much of it is lost by waiting.
//
// A thread that launches faster than the GPU works is ahead of it, and the time that its code takes between two launches leaves no gap. A call that
// waits for the GPU costs it that lead, for as long as the call blocks. Until the thread is ahead again, the GPU is idle at each launch, although the
// code in these gaps would otherwise have been hidden. So of the idle time after a wait, as much is due to the wait as the wait has blocked; but none
// after the thread has made as many calls as a queue holds, because no thread can be further ahead.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/trace/trace.h"
#include "threads/call_class.h"

namespace lanescope::analysis {

class LostLead {
 public:
  // Of waits in the loop. Both must outlive it.
  LostLead(const Trace& trace, const Loop& loop) : trace_(trace), loop_(loop), waiting_(trace, waiting) {}

  // The part of this idle time of a gap that is due to waits of its launching thread; afterwards these waits account for less by that. Requires: the
  // gap's launch is valid, and gaps come by GPU and time. O(1) for each call between the launches, 2,048 at most.
  [[nodiscard]] Nanoseconds take(const IdleGap& gap, Nanoseconds idle);
  // The call whose waits blocked longest; 0 if there was none.
  [[nodiscard]] NameId call() const noexcept;

 private:
  struct Wait {
    EventIndex call = 0;
    Nanoseconds lost = 0;  // time to which no idle time was attributed yet
  };
  struct Thread {
    EventIndex next_call = 0;  // the first call that was not looked at
    std::deque<Wait> waits;    // by call; the latest ones
  };
  enum class Waiting : std::uint8_t { kNever, kWhereLong, kAlways };
  [[nodiscard]] static Waiting waiting(std::string_view call);
  [[nodiscard]] bool waits(const Lane& calls, EventIndex call);
  // The first call of the lane that starts when the gap's launch does, or later.
  [[nodiscard]] static EventIndex first_at(const Lane& calls, LaneId lane, const IdleGap& gap);

  const Trace& trace_;
  const Loop& loop_;
  NameMemo<Waiting> waiting_;
  std::map<std::pair<GpuId, LaneId>, Thread> threads_;  // by the lane of the thread's calls
  std::map<NameId, Nanoseconds> blocked_;
};

}  // namespace lanescope::analysis
