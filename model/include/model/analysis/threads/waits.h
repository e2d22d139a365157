// Why something happened when it did and not earlier: what it waited for, and what that waited for in turn, back to the code of a thread.
//
// An operation of a GPU starts after the operation in front of it on its stream, after the work of other streams for which its stream was made to wait,
// and after its call has enqueued it. The last of these is what it waited for. A call that enqueues work is made when its thread comes to it. If the
// GPU fell idle before, the call waited for what the thread did most since then. A call that waits for the GPU ends with the GPU's work. A call that
// waits for Python's lock ends when the holder releases it. A call that waits for data ends with the call of another thread that wrote some then. A
// thread that waits for a lock or a condition goes on when another one wakes it. Recordings with states of threads say which one it was, if tracepoints
// could be read. Otherwise, where one hands work over, as to PyTorch's thread of the backward pass, the one that handed over ran then, and began to wait
// itself just then. If exactly one thread of the process did, it is that one. A
// collective ends on all ranks at once, as soon as the last rank has come: the time that its kernel takes longer than that of the last rank is waiting,
// not transfer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/analysis/idle/idle.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

enum class WaitKind : std::uint8_t {
  kStream,       // for the operation in front of it on its stream
  kOtherStream,  // for an operation of another stream, for which its own stream was made to wait
  kEnqueued,     // for the call that enqueued it
  kCall,         // for a call that its thread was in
  kCode,         // for what its thread did outside of known calls, such as running code; the event is a range around it, if there is one
  kGpuWork,      // a call, for work of the GPU
  kLockHolder,   // for the thread that held the lock
  kWriter,       // for data that this call of another thread wrote
  kLateRank,     // a kernel of a collective, for the rank that came last to it: the event is the kernel of that rank
  kWaker,        // for the thread that woke it: the event is the state in which that thread ran then
  kHandOver,     // for another thread of its process, which woke it and then waited itself: the event is that wait
  kOtherThread,  // for a lock; the event is what another thread of its process did meanwhile
};

struct Wait {
  WaitKind kind = WaitKind::kCode;
  EventRef event;                         // what was waited for; invalid for code outside of any range
  TimeRange time;                         // the time in which it delayed the waiting event
  IdleCause cause = IdleCause::kCpuCode;  // for kCall and kCode: what the thread was doing
};

// "the kernel in front of it on its stream": the words after "waited for".
[[nodiscard]] Message wait_words(const Trace& trace, const Wait& wait);

// Threads: one thread at a time.
class WaitFinder {
 public:
  explicit WaitFinder(const Trace& trace);  // O(names); the trace must outlive it
  ~WaitFinder();
  WaitFinder(const WaitFinder&) = delete;
  WaitFinder& operator=(const WaitFinder&) = delete;

  // What the event waited for: an operation of a GPU, a CUDA call, a call into the C library, or a wait for Python's lock. Returns nothing if the event
  // is something else, or if nothing is known. O(tracks · log n), plus O(events) of the stretch of its thread that is examined: the gap of the GPU, or
  // at most a second.
  [[nodiscard]] std::optional<Wait> before(EventRef event);

  // What the event waited for, what that waited for, and so on: at most `most` hops, the nearest first, each event once. Each starts before the
  // previous one ends.
  [[nodiscard]] std::vector<Wait> chain(EventRef event, std::size_t most);

  // The thread that ended a wait of another thread of its process for a lock or a condition, or a time in which it was blocked: its waker, or else the one
  // that handed over to it. Nothing if that can't be told. The wait's time is that in which the other thread worked meanwhile. O(tracks · log n).
  [[nodiscard]] std::optional<Wait> hand_over(ThreadId thread, TimeRange wait);
  // The same by what was recorded alone, whatever the thread waited for.
  [[nodiscard]] std::optional<Wait> waker(ThreadId thread, TimeRange wait);

  // How long the kernel of a collective waited for the last rank, and the kernel of that rank. Returns nothing if the kernel belongs to no collective,
  // or came last itself. The first question about a stretch of time costs O(lanes · log n) plus its kernels; all questions together cost O(n log n),
  // whatever the number of ranks.
  struct CollectiveWait {
    EventRef last;
    Nanoseconds waited = 0;
  };
  [[nodiscard]] std::optional<CollectiveWait> collective_wait(EventRef kernel);
  // Visits all kernels of collectives that waited, those of a lane in order. Ends early when asked to stop. O(n log n) of the kernels of the trace;
  // unlike answers to single questions, nothing is kept.
  void for_each_collective_wait(const std::function<void(EventRef kernel, const CollectiveWait&)>& visit, const std::stop_token& stop = {});
  // True if kernels of this name belong to a communication library. O(1).
  [[nodiscard]] bool communicates(NameId kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::analysis
