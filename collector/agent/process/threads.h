// The threads of the target, as far as the agent follows them: a state for each, from its first event to its end.
//
// States of threads that have ended go to the next that begin, with their rings, so that a program that starts a thread for every piece of
// work pays little for it. There are no locks: what runs at the end of a thread waits for nobody.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/channel/ring.h"

namespace lanescope::agent {

// Push/pop levels are counted for so many domains; NVTX lets a tool decline for more.
inline constexpr std::uint32_t kCountedDomains = 128;

// What the agent knows about one thread of the target.
struct ThreadState {
  // Of the state, from thread to thread.
  std::uint32_t number = 0;
  std::atomic<std::uint32_t> next_free{0};  // threads.cpp
  std::atomic<std::uint64_t> owner{0};      // kernel thread id; 0 in the lower half: free; the upper half tells owners apart
  std::uint32_t generation = 0;             // of the process that the next three belong to (process_generation)
  channel::SharedHeader* header = nullptr;
  channel::RingHeader* ring = nullptr;  // null: none was free
  channel::RingProducer producer;

  // Of the thread.
  ThreadState* within = nullptr;   // for its events that come while one is being written, from a signal handler; null: there were none
  std::int32_t* levels = nullptr;  // open push/pop ranges by domain, of all its states
  struct Own {
    std::uint32_t thread_id = 0;  // gettid
    std::uint32_t events_without_ring = 0;
    std::uint32_t followed_call = 0;            // correlation id of the runtime call whose duration is being taken (cupti/backtraces.h)
    const void* writer = nullptr;               // who writes an event: a signal handler may come in between
    std::int32_t levels[kCountedDomains] = {};  // ThreadState::levels, where it is the thread's first
  } own;
};

// After a writer was left for good by a jump: the state goes on with its ring, or has none where that one had to be closed.
void recover_ring(ThreadState& state) noexcept;

// A state for the calling thread until it ends. Null where there is no memory for one. O(1), but for a look whether threads ended without a
// word, ten times a second at most.
ThreadState* begin_thread() noexcept;

// The state of the calling thread goes to another. What this one writes from now on, as others do at the end of a thread, begins anew.
void end_thread(ThreadState& state) noexcept;

// Gives `state` the ring that a thread has left which has ended. Returns whether there was one. Requires: state.generation is current.
bool take_ring_of_ended_thread(ThreadState& state) noexcept;

// Calls ended() at the end of each thread that called watch_end_of_this_thread() since it was called last. Takes memory, so call it while
// the agent is loaded; once counts.
void watch_thread_ends(void (*ended)()) noexcept;
void watch_end_of_this_thread() noexcept;

// In a forked child, of its only thread: there are no others.
void forget_threads() noexcept;

}  // namespace lanescope::agent
