// Why something happened when it did and not earlier: what it waited for, and what that waited for in turn, back to the code of a thread.
//
// An operation of a GPU begins when what is in front of it on its stream is done, when the work of other streams is done for which its stream
// was made to wait, and when its call has enqueued it: the last of these is what it waited for. A call that enqueues work is made when its
// thread comes to it: where the GPU fell idle before, what the thread did most since then is what it waited for. A call that waits for the GPU
// ends with the GPU's work; one that waits for Python's lock ends when its holder lets go; one that waits for data, with the call of another
// thread that wrote some then. A collective ends on all ranks at once, as soon as the last has come: what its kernel takes longer than that
// one's is waiting, not transfer.
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
  kOtherStream,  // for an operation of another stream, for which its stream was made to wait
  kEnqueued,     // for the call that enqueued it
  kCall,         // for a call that its thread was in
  kCode,         // for what its thread did in no call that is known, such as running code: in the event, a range, where there is one
  kGpuWork,      // a call, for work of the GPU
  kLockHolder,   // for the thread that held the lock
  kWriter,       // for data that this call of another thread wrote
  kLateRank,     // a kernel of a collective, for the rank that came last to it: this is that one's kernel
  kOtherThread,  // for a lock; this is what another thread of its process did meanwhile
};

struct Wait {
  WaitKind kind = WaitKind::kCode;
  EventRef event;                         // what was waited for; invalid for code outside of any range
  TimeRange time;                         // in which it held up what waited
  IdleCause cause = IdleCause::kCpuCode;  // of kCall and kCode: what the thread was doing
};

// "the kernel in front of it on its stream": the words behind "waited for".
[[nodiscard]] Message wait_words(const Trace& trace, const Wait& wait);

// Threads: one thread at a time.
class WaitFinder {
 public:
  explicit WaitFinder(const Trace& trace);  // O(names); the trace must outlive it
  ~WaitFinder();
  WaitFinder(const WaitFinder&) = delete;
  WaitFinder& operator=(const WaitFinder&) = delete;

  // What the event waited for: an operation of a GPU, a CUDA call, a call into the C library, a wait for Python's lock. None where it is
  // something else, or nothing is known. O(tracks · log n), and O(events) of the stretch of its thread that it is about: the gap of the GPU, or
  // at most a second.
  [[nodiscard]] std::optional<Wait> before(EventRef event);

  // The same of what that waited for, and so on: at most `most` hops, the nearest first, each event once. Each begins before the one before it
  // ends.
  [[nodiscard]] std::vector<Wait> chain(EventRef event, std::size_t most);

  // How long the kernel of a collective waited for the last rank, whose kernel this is; none where it is of no collective, or came last
  // itself. The first question about a stretch of time costs O(lanes · log n) and what its kernels take, and all questions together O(n log n), of
  // however many ranks they are.
  struct CollectiveWait {
    EventRef last;
    Nanoseconds waited = 0;
  };
  [[nodiscard]] std::optional<CollectiveWait> collective_wait(EventRef kernel);
  // Visits all kernels of collectives that waited, those of a lane in order. Ends early when asked to stop. O(n log n) of the kernels of the trace; unlike
  // answers to single questions, nothing is kept.
  void for_each_collective_wait(const std::function<void(EventRef kernel, const CollectiveWait&)>& visit, const std::stop_token& stop = {});
  // Whether kernels of this name are a communication library's. O(1).
  [[nodiscard]] bool communicates(NameId kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::analysis
