// The threads of the target, as far as the agent follows them: a state for each, from its first event to its end.
//
// States of ended threads, with their rings, are given to threads that begin later, so that a program that starts a thread for every piece of work pays little.
// There are no locks: the code that runs at the end of a thread waits for nobody.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/channel/ring.h"

namespace lanescope::agent {

// Push/pop levels are counted for this many domains; NVTX lets a tool decline for more.
inline constexpr std::uint32_t kCountedDomains = 128;

// What the agent knows about one thread of the target.
struct ThreadState {
  // Members that belong to the state and pass from thread to thread.
  std::uint32_t number = 0;
  std::atomic<std::uint32_t> next_free{0};  // threads.cpp
  std::atomic<std::uint64_t> owner{0};      // kernel thread id; 0 in the lower half: free; the upper half tells owners apart
  std::uint32_t generation = 0;             // of the process that the next three belong to (process_generation)
  channel::SharedHeader* header = nullptr;
  channel::RingHeader* ring = nullptr;  // null: none was free
  channel::RingProducer producer;

  // Members that belong to the thread.
  ThreadState* within = nullptr;   // for events that a signal handler makes while one is being written; null: there were none
  std::int32_t* levels = nullptr;  // open push/pop ranges by domain, shared by all states of the thread
  struct Own {
    std::uint32_t thread_id = 0;  // gettid
    std::uint32_t events_without_ring = 0;
    std::uint32_t followed_call = 0;            // correlation id of the runtime call that is being timed (cupti/backtraces.h)
    const void* writer = nullptr;               // the writer of the event in progress: a signal handler may interrupt it
    std::int32_t levels[kCountedDomains] = {};  // ThreadState::levels, if this is the thread's first state
  } own;
};

// Call after a jump has abandoned a writer for good: the state keeps its ring, or has none if the ring had to be closed.
void recover_ring(ThreadState& state) noexcept;

// A state for the calling thread until it ends. Null if there is no memory. O(1), except for a look for threads that ended unnoticed, at most ten times a
// second.
ThreadState* begin_thread() noexcept;

// Gives the state of the calling thread to another. If this thread writes again, as some do at their end, it begins anew.
void end_thread(ThreadState& state) noexcept;

// Gives `state` the ring of a thread that has ended. Returns whether there was one. Requires: state.generation is current.
bool take_ring_of_ended_thread(ThreadState& state) noexcept;

// Calls ended() at the end of each thread that has called watch_end_of_this_thread() since the last such call. Takes memory, so call it while the agent is
// loaded; only the first call counts.
void watch_thread_ends(void (*ended)()) noexcept;
void watch_end_of_this_thread() noexcept;

// For the only thread of a forked child: the others do not exist there.
void forget_threads() noexcept;

}  // namespace lanescope::agent
