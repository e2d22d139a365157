// The calling thread's way into its ring.
//
// A thread has a ring from its first event to its end (process/threads.h). Writing an event takes no lock, no memory and, after the thread's first event, no
// system call. A thread that finds no free ring counts the events that it could not record, and looks again from time to time.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/channel/membership.h"
#include "agent/process/forks.h"
#include "agent/process/threads.h"
#include "collector/channel/ring.h"

namespace lanescope::agent {

// The calling thread's state, taken for one event. False if nothing can be recorded, because there is no session. If a signal handler interrupted an event of
// the same thread, its events go to another ring. So do later events of the thread, if the handler has left that event by a jump, until it is certain that it
// has (core/faults/left_frame.h).
class [[nodiscard]] ThreadWriter {
 public:
  ThreadWriter() noexcept {
    ThreadState* state = current;
    const std::uint32_t generation = last_generation();
    if (state == nullptr || state->generation != generation) state = is_absent(generation) ? nullptr : attach();
    if (state == nullptr) return;
    if (state->own.writer != nullptr) {
      ThreadState* const other = free_state(*state);
      if (other == nullptr) {
        count_lost(*state->header);
        return;
      }
      state = other;
    }
    state->own.writer = this;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_ = state;
  }
  ~ThreadWriter() {
    if (state_ == nullptr) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_->own.writer = nullptr;
  }
  // Registers for forks and ends of threads. Takes memory, so call it while the agent is loaded; any number of times.
  static void prepare() noexcept;
  // Events of the calling thread are counted as lost from here on.
  static void leave_thread() noexcept;
  // True if this thread knows that there is no session; the caller then has nothing to do.
  [[nodiscard]] static bool finds_no_session() noexcept { return is_absent(last_generation()); }

  ThreadWriter(const ThreadWriter&) = delete;
  ThreadWriter& operator=(const ThreadWriter&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  [[nodiscard]] const channel::Settings& settings() const noexcept { return state_->header->settings; }
  [[nodiscard]] ThreadState& state() const noexcept { return *state_; }
  // CLOCK_MONOTONIC, ns.
  [[nodiscard]] std::int64_t now() const noexcept { return channel::event_now(state_->header->clock); }
  // The same for a given time of this process's CLOCK_MONOTONIC.
  [[nodiscard]] std::int64_t event_time(std::int64_t monotonic) const noexcept { return channel::event_time(state_->header->clock, monotonic); }

  // Appends the record; sets its thread. Requires: *this is true.
  [[gnu::always_inline]] void write(channel::Record record, std::string_view text) noexcept {
    ThreadState& state = *state_;
    if (state.ring == nullptr && !find_ring()) return;
    record.thread = state.own.thread_id;
    state.producer.write(record, text);
  }

 private:
  static ThreadState* attach() noexcept;
  static void detach() noexcept;  // the thread ends
  static void count_lost(channel::SharedHeader& header) noexcept;
  // One of the thread's states that is not writing an event, as far as is known; null if there is none.
  ThreadState* free_state(ThreadState& first) const noexcept;
  // For a thread without a ring, called from time to time; counts the event if no ring is free.
  bool find_ring() noexcept;
  // A child that has not looked yet has no generation.
  static bool is_absent(std::uint32_t generation) noexcept { return absent_in == generation && generation != 0; }
  static constinit thread_local ThreadState* current;
  static constinit thread_local std::uint32_t absent_in;  // generation in which this thread found no session
  static constinit thread_local const void* attaching;    // the object on the stack that attaches; null: none

  ThreadState* state_ = nullptr;
};

}  // namespace lanescope::agent
