#include "agent/channel/thread_writer.h"

#include "agent/channel/capture.h"
#include "agent/core/faults/left_frame.h"
#include "agent/core/quiet.h"
#include "agent/process/call_filters.h"
#include "agent/process/this_thread.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent {

constinit thread_local ThreadState* ThreadWriter::current = nullptr;
constinit thread_local std::uint32_t ThreadWriter::absent_in = 0;
constinit thread_local const void* ThreadWriter::attaching = nullptr;

namespace {

constexpr std::uint32_t kAskAgainAfter = 256;  // events without a ring
constexpr int kMostWithinEachOther = 8;        // events nested by signal handlers
constexpr char kNobody = 0;                    // an address that is on no stack

void claim_ring(ThreadState& state) noexcept {
  const channel::SharedMemory memory(*state.header);
  const auto index = channel::claim_thread_ring(memory, state.own.thread_id);
  if (!index) {
    if (take_ring_of_ended_thread(state)) state.ring->owner.store(state.own.thread_id, std::memory_order_relaxed);
    return;
  }
  state.ring = &memory.thread_ring(*index);
  state.producer = {*state.ring, memory.thread_pool()};
}

// A ring that a thread has left continues where that thread stopped.
void use_memory(ThreadState& state, channel::SharedMemory memory, std::uint32_t generation) noexcept {
  if (state.generation != generation) state.ring = nullptr;
  state.generation = generation;
  state.header = &memory.header();
  if (state.ring != nullptr)
    state.ring->owner.store(state.own.thread_id, std::memory_order_relaxed);
  else
    claim_ring(state);
}

ThreadState* begin_within(const ThreadState& outer) noexcept {
  ThreadState* const state = begin_thread();
  if (state == nullptr) return nullptr;
  state->levels = outer.levels;
  use_memory(*state, channel::SharedMemory(*outer.header), outer.generation);
  return state;
}

}  // namespace

// A signal handler that interrupts this finds nothing to write to.
ThreadState* ThreadWriter::attach() noexcept {
  if (current != nullptr && current->own.writer == &kNobody) return current;
  struct Attaching {
    Attaching() noexcept { attaching = this; }
    ~Attaching() { attaching = nullptr; }
  };
  if (attaching != nullptr && !is_left(attaching, __builtin_frame_address(0))) return nullptr;
  const Attaching now;
  const Quiet quiet;
  const std::uint32_t generation = process_generation();
  // The child of a vfork, on a thread of its parent, does not join for its own sake. If its parent has joined, it writes as that thread.
  if (!has_joined() && may_join() && !is_own_process()) return nullptr;
  const channel::SharedMemory memory = join_recording();
  if (!memory) {
    absent_in = generation;
    return nullptr;
  }
  prepare();
  if (current != nullptr) {
    current->own = {.thread_id = this_thread_id()};  // it belonged to another session
  } else {
    current = begin_thread();
    if (current == nullptr) {  // the program may have no more memory
      count_lost(memory.header());
      return nullptr;
    }
    watch_end_of_this_thread();
  }
  use_memory(*current, memory, generation);
  return current;
}

void ThreadWriter::prepare() noexcept {
  watch_forks();
  on_fork_child([] {
    current = nullptr;
    forget_threads();
  });
  watch_thread_ends(detach);
}

void ThreadWriter::detach() noexcept {
  ThreadState* state = current;
  current = nullptr;
  while (state != nullptr) {
    ThreadState* const within = state->within;
    if (state->header != nullptr) end_capture_of_thread(*state->header, state->own.thread_id);
    end_thread(*state);
    state = within;
  }
}

void ThreadWriter::leave_thread() noexcept {
  if (current != nullptr) current->own.writer = &kNobody;
}

ThreadState* ThreadWriter::free_state(ThreadState& first) const noexcept {
  if (first.own.writer == &kNobody) return nullptr;
  ThreadState* state = &first;
  for (int level = 0; state != nullptr && level < kMostWithinEachOther; ++level) {
    if (state->generation != first.generation) use_memory(*state, channel::SharedMemory(*first.header), first.generation);
    if (state->own.writer == nullptr) return state;
    if (is_left(state->own.writer, this)) {
      recover_ring(*state);
      if (state->ring == nullptr) claim_ring(*state);
      return state;
    }
    if (state->within == nullptr) state->within = begin_within(*state);
    state = state->within;
  }
  return nullptr;
}

void ThreadWriter::count_lost(channel::SharedHeader& header) noexcept {
  if (header.settings.recording.load(std::memory_order_relaxed) != 0) header.status.ringless_dropped.fetch_add(1, std::memory_order_relaxed);
}

bool ThreadWriter::find_ring() noexcept {
  ThreadState& state = *state_;
  if (++state.own.events_without_ring % kAskAgainAfter == 0) claim_ring(state);
  if (state.ring == nullptr) state.header->status.ringless_dropped.fetch_add(1, std::memory_order_relaxed);
  return state.ring != nullptr;
}

}  // namespace lanescope::agent
