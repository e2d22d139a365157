#include "agent/process/threads.h"

#include <new>

#include <pthread.h>
#include <sys/mman.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"
#include "agent/process/this_thread.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent {
namespace {

constexpr std::uint32_t kChunkStates = 128;
constexpr std::uint32_t kChunks = 640;  // about 80,000 threads at a time, 60 MiB
constexpr std::int64_t kBetweenLooks = 100 * kMillisecond;
constexpr std::int64_t kShareOfLooks = 50;  // looking takes at most this fraction of the time: 1/50
// Values of later keys are in memory that the C library would have to allocate, perhaps by the program's own allocator.
constexpr pthread_key_t kKeysWithoutMemory = 32;

constexpr std::uint64_t kThreadBits = 0xffff'ffff;
constexpr std::uint64_t kNextOwner = kThreadBits + 1;

// A stack of states. The upper half of its word counts changes, so that an old value is not taken for the present one.
class FreeStates {
 public:
  void push(ThreadState& state) noexcept;
  ThreadState* pop() noexcept;
  void clear() noexcept { top_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> top_{0};  // number of the state, plus 1; 0: empty
};

constinit std::atomic<ThreadState*> chunks[kChunks] = {};
constinit std::atomic<std::uint32_t> used{0};  // states so far
constinit FreeStates free_with_ring;
constinit FreeStates free_without_ring;
constinit std::atomic<std::int64_t> next_look{0};
constinit std::atomic<void (*)()> at_thread_end{nullptr};
constinit pthread_key_t key = kKeysWithoutMemory;  // written before `at_thread_end`

ThreadState& state_at(std::uint32_t number) noexcept { return chunks[number / kChunkStates].load(std::memory_order_acquire)[number % kChunkStates]; }

void FreeStates::push(ThreadState& state) noexcept {
  std::uint64_t top = top_.load(std::memory_order_relaxed);
  std::uint64_t wanted = 0;
  do {
    state.next_free.store(static_cast<std::uint32_t>(top), std::memory_order_relaxed);
    wanted = ((top >> 32) + 1) << 32 | (state.number + 1);
  } while (!top_.compare_exchange_weak(top, wanted, std::memory_order_release, std::memory_order_relaxed));
}

ThreadState* FreeStates::pop() noexcept {
  std::uint64_t top = top_.load(std::memory_order_acquire);
  for (;;) {
    const auto number = static_cast<std::uint32_t>(top);
    if (number == 0) return nullptr;
    ThreadState& state = state_at(number - 1);
    const std::uint64_t wanted = ((top >> 32) + 1) << 32 | state.next_free.load(std::memory_order_relaxed);
    if (top_.compare_exchange_weak(top, wanted, std::memory_order_acquire, std::memory_order_acquire)) return &state;
  }
}

ThreadState* new_state() noexcept {
  std::uint32_t number = used.load(std::memory_order_relaxed);
  do {
    if (number == kChunks * kChunkStates) return nullptr;
    std::atomic<ThreadState*>& chunk = chunks[number / kChunkStates];
    if (chunk.load(std::memory_order_acquire) != nullptr) continue;
    constexpr std::size_t kBytes = kChunkStates * sizeof(ThreadState);
    void* pages = system::map(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (pages == nullptr) return nullptr;
    auto* states = static_cast<ThreadState*>(pages);
    for (std::uint32_t i = 0; i < kChunkStates; ++i) ::new (states + i) ThreadState;
    ThreadState* none = nullptr;
    if (!chunk.compare_exchange_strong(none, states, std::memory_order_acq_rel)) system::unmap(pages, kBytes);
  } while (!used.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel));
  ThreadState& state = state_at(number);
  state.number = number;
  return &state;
}

// A ring that its thread left rather full is given back to the host, which reads it first.
void keep_for_others(ThreadState& state) noexcept {
  const bool is_of_now = state.generation == last_generation();
  if (is_of_now && state.own.writer != nullptr) recover_ring(state);
  if (state.ring != nullptr && is_of_now && state.producer.filling_up()) {
    channel::close_thread_ring(*state.ring);
    state.ring = nullptr;
  }
  (state.ring != nullptr && is_of_now ? free_with_ring : free_without_ring).push(state);
}

// Returns false if another thread was first.
bool give_up(ThreadState& state, std::uint64_t owner) noexcept {
  return state.owner.compare_exchange_strong(owner, (owner & ~kThreadBits) + kNextOwner, std::memory_order_acq_rel);
}

// Threads can end unnoticed: by the system call, or if their end is not watched.
void look_for_ended_threads() noexcept {
  if (!may_join()) return;  // asking the kernel for threads may be forbidden, too
  const std::int64_t begin = monotonic_now();
  std::int64_t due = next_look.load(std::memory_order_relaxed);
  if (begin < due || !next_look.compare_exchange_strong(due, begin + kSecond, std::memory_order_relaxed)) return;
  const std::uint32_t count = used.load(std::memory_order_acquire);
  for (std::uint32_t number = 0; number < count; ++number) {
    ThreadState& state = state_at(number);
    const std::uint64_t owner = state.owner.load(std::memory_order_acquire);
    const auto thread = static_cast<std::uint32_t>(owner & kThreadBits);
    if (thread != 0 && !is_thread_of_process(thread) && give_up(state, owner)) keep_for_others(state);
  }
  const std::int64_t end = monotonic_now();
  const std::int64_t pause = (end - begin) * kShareOfLooks;
  next_look.store(end + (pause > kBetweenLooks ? pause : kBetweenLooks), std::memory_order_relaxed);
}

ThreadState* free_state() noexcept {
  ThreadState* state = free_with_ring.pop();
  return state != nullptr ? state : free_without_ring.pop();
}

}  // namespace

void recover_ring(ThreadState& state) noexcept {
  if (state.ring == nullptr || state.producer.recover()) return;
  channel::close_thread_ring(*state.ring);
  state.ring = nullptr;
}

ThreadState* begin_thread() noexcept {
  ThreadState* state = free_state();
  if (state == nullptr && used.load(std::memory_order_relaxed) >= kChunkStates) {
    look_for_ended_threads();
    state = free_state();
  }
  if (state == nullptr) state = new_state();
  if (state == nullptr) return nullptr;
  state->own = {};
  state->own.thread_id = this_thread_id();
  state->within = nullptr;
  state->levels = state->own.levels;
  state->owner.store((state->owner.load(std::memory_order_relaxed) & ~kThreadBits) | state->own.thread_id, std::memory_order_release);
  return state;
}

void end_thread(ThreadState& state) noexcept {
  const std::uint64_t owner = state.owner.load(std::memory_order_acquire);
  if ((owner & kThreadBits) == state.own.thread_id && give_up(state, owner)) keep_for_others(state);
}

bool take_ring_of_ended_thread(ThreadState& state) noexcept {
  ThreadState* other = free_with_ring.pop();
  if (other == nullptr) {
    look_for_ended_threads();
    other = free_with_ring.pop();
  }
  while (other != nullptr) {
    channel::RingHeader* const ring = other->generation == state.generation ? other->ring : nullptr;
    const channel::RingProducer producer = other->producer;
    other->ring = nullptr;
    free_without_ring.push(*other);
    if (ring != nullptr) {
      state.ring = ring;
      state.producer = producer;
      return true;
    }
    other = free_with_ring.pop();
  }
  return false;
}

void watch_thread_ends(void (*ended)()) noexcept {
  if (at_thread_end.load(std::memory_order_acquire) != nullptr) return;
  pthread_key_t made = kKeysWithoutMemory;
  const auto call_ended = [](void*) {
    if (auto* const call = at_thread_end.load(std::memory_order_acquire)) call();
  };
  if (pthread_key_create(&made, call_ended) == 0) key = made;
  at_thread_end.store(ended, std::memory_order_release);
}

void watch_end_of_this_thread() noexcept {
  if (at_thread_end.load(std::memory_order_acquire) != nullptr && key < kKeysWithoutMemory) pthread_setspecific(key, &key);
}

void forget_threads() noexcept {
  free_with_ring.clear();
  free_without_ring.clear();
  used.store(0, std::memory_order_relaxed);
}

}  // namespace lanescope::agent
