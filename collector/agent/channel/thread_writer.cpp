#include "agent/channel/thread_writer.h"

#include <cerrno>

#include <pthread.h>
#include <unistd.h>

#include "agent/core/arena.h"
#include "agent/core/lock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "collector/channel/doorbell.h"

namespace lanescope::agent {

constinit thread_local ThreadState* ThreadWriter::current = nullptr;
constinit thread_local std::uint32_t ThreadWriter::absent_in = 0;

namespace {

constexpr std::size_t kThreadStateLimit = 64u << 20;  // bytes, for about 80,000 threads at a time
constexpr std::uint32_t kAskAgainAfter = 256;         // events without a ring

struct Threads {
  Arena arena{kThreadStateLimit};
  ThreadState* free = nullptr;
  pthread_key_t at_thread_end = 0;
  bool has_key = false;
};
constinit Threads threads;
constinit Lock threads_lock;

void claim_ring(ThreadState& state) noexcept {
  const auto index = channel::claim_thread_ring(*state.header, state.thread_id);
  if (!index) return;
  state.ring = &state.header->thread_rings[*index];
  state.producer = {*state.ring, channel::SharedMemory(state.header).thread_bytes(*index)};
}

ThreadState* take_state() noexcept {
  const ScopedLock lock(threads_lock);
  ThreadState* state = threads.free;
  if (state == nullptr) return threads.arena.create<ThreadState>();
  threads.free = state->next_free;
  *state = {};
  return state;
}

}  // namespace

ThreadState* ThreadWriter::attach() noexcept {
  const Quiet quiet;
  const std::uint32_t generation = process_generation.load(std::memory_order_acquire);
  const channel::SharedMemory memory = join_recording();
  if (!memory) {
    absent_in = generation;
    return nullptr;
  }
  const int saved_errno = errno;
  if (current == nullptr) {
    hold_across_forks(threads_lock);
    current = take_state();
    if (current == nullptr) return nullptr;
    const ScopedLock lock(threads_lock);
    if (!threads.has_key) {
      threads.has_key = pthread_key_create(&threads.at_thread_end, [](void* value) {
                          auto* state = static_cast<ThreadState*>(value);
                          current = nullptr;
                          if (state->ring != nullptr && state->generation == process_generation.load(std::memory_order_relaxed))
                            channel::close_thread_ring(*state->ring);
                          const ScopedLock locked(threads_lock);
                          state->next_free = threads.free;
                          threads.free = state;
                        }) == 0;
    }
    if (threads.has_key) pthread_setspecific(threads.at_thread_end, current);
  } else {
    *current = {};  // of a parent, or of a session that has left
  }
  current->generation = generation;
  current->thread_id = kernel_thread_id();
  current->header = &memory.header();
  claim_ring(*current);
  errno = saved_errno;
  return current;
}

bool ThreadWriter::find_ring() noexcept {
  ThreadState& state = *state_;
  if (++state.events_without_ring % kAskAgainAfter == 0) claim_ring(state);
  if (state.ring == nullptr) state.header->status.ringless_dropped.fetch_add(1, std::memory_order_relaxed);
  return state.ring != nullptr;
}

void ThreadWriter::ring_doorbell() noexcept { channel::ring_doorbell(*state_->header); }

}  // namespace lanescope::agent
