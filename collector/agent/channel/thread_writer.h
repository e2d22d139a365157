// The calling thread's way into its ring.
//
// A thread claims a ring at its first event and gives it back when it ends. Writing an event takes no lock and no memory; a thread that
// finds no free ring counts what it could not record, and asks again from time to time.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/channel/membership.h"
#include "collector/channel/ring.h"

namespace lanescope::agent {

// Push/pop levels are counted for so many domains; NVTX lets a tool decline for more.
inline constexpr std::uint32_t kCountedDomains = 128;

// What the agent knows about one thread of the target.
struct ThreadState {
  std::uint32_t generation = 0;  // of the process it belongs to (process_generation)
  std::uint32_t thread_id = 0;   // gettid
  bool in_use = false;           // an event of this thread is being written; set while a signal handler may come in between
  std::uint32_t events_without_ring = 0;
  std::uint32_t followed_call = 0;          // correlation id of the runtime call whose duration is being taken (cupti/backtraces.h)
  channel::SharedHeader* header = nullptr;  // null: there is no session
  channel::RingHeader* ring = nullptr;      // null: none was free
  channel::RingProducer producer;
  ThreadState* next_free = nullptr;
  std::int32_t levels[kCountedDomains] = {};  // open push/pop ranges by domain
};

// The calling thread's state, taken for one event. False where nothing can be recorded: there is no session, or a signal handler
// interrupted an event of the same thread.
class [[nodiscard]] ThreadWriter {
 public:
  ThreadWriter() noexcept {
    ThreadState* state = current;
    const std::uint32_t generation = process_generation.load(std::memory_order_relaxed);
    if (state == nullptr || state->generation != generation) state = generation == absent_in ? nullptr : attach();
    if (state == nullptr || state->in_use) return;
    state->in_use = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_ = state;
  }
  ~ThreadWriter() {
    if (state_ == nullptr) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_->in_use = false;
  }
  // Whether this thread knows that there is no session: the way to do nothing at all.
  [[nodiscard]] static bool finds_no_session() noexcept { return absent_in == process_generation.load(std::memory_order_relaxed); }

  ThreadWriter(const ThreadWriter&) = delete;
  ThreadWriter& operator=(const ThreadWriter&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  [[nodiscard]] const channel::Settings& settings() const noexcept { return state_->header->settings; }
  [[nodiscard]] ThreadState& state() const noexcept { return *state_; }
  // CLOCK_MONOTONIC, ns.
  [[nodiscard]] std::int64_t now() const noexcept { return channel::event_now(state_->header->clock); }

  // Appends the record; thread is set here. Requires: *this is true.
  [[gnu::always_inline]] void write(channel::Record record, std::string_view text) noexcept {
    ThreadState& state = *state_;
    if (state.ring == nullptr && !find_ring()) return;
    record.thread = state.thread_id;
    state.producer.write(record, text);
    if (state.producer.filling_up()) ring_doorbell();
  }

 private:
  static ThreadState* attach() noexcept;
  // For a thread without one, from time to time; counts the event where none is free.
  bool find_ring() noexcept;
  void ring_doorbell() noexcept;
  static constinit thread_local ThreadState* current;
  static constinit thread_local std::uint32_t absent_in;  // generation in which this thread found no session

  ThreadState* state_ = nullptr;
};

}  // namespace lanescope::agent
