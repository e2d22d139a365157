#include "agent/process/forks.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include <pthread.h>
#include <sys/mman.h>

#include "agent/core/clock.h"
#include "agent/core/forks_under_way.h"
#include "agent/core/loader/loader.h"
#include "agent/process/call_filters.h"
#include "agent/process/held_signals.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent {

constinit ProcessPage process_page{};

namespace {

constexpr std::size_t kMost = 12;

constinit std::atomic<Lock*> held_locks[kMost] = {};
constinit std::atomic<void (*)()> preparing[kMost] = {};
constinit std::atomic<void (*)()> forgetting[kMost] = {};
constinit std::atomic<bool> watches{false};
constinit std::uint32_t generation_before = 0;  // the parent's generation, in a child that has not looked yet
constinit std::atomic<std::uint32_t> own_number{0};
constinit std::atomic<bool> is_forked_unnoticed{false};

template <typename T>
void add_once(std::atomic<T> (&slots)[kMost], T value) noexcept {
  for (std::atomic<T>& slot : slots) {
    T known = nullptr;
    if (slot.compare_exchange_strong(known, value, std::memory_order_acq_rel) || known == value) return;
  }
}

void call_each(const std::atomic<void (*)()> (&slots)[kMost]) noexcept {
  for (const std::atomic<void (*)()>& slot : slots)
    if (auto* const function = slot.load(std::memory_order_acquire)) function();
}

template <typename Work>
void for_each_held(Work work) noexcept {
  for (const std::atomic<Lock*>& slot : held_locks)
    if (Lock* lock = slot.load(std::memory_order_acquire)) work(*lock);
}

std::uintptr_t thread_address() noexcept { return static_cast<std::uintptr_t>(pthread_self()); }

// Only the calling thread exists here, and its forks are its parent's.
void forget_parent() noexcept {
  own_number.fetch_add(1, std::memory_order_relaxed);
  for (ForkUnderWay& each : forks_under_way) each.thread.store(0, std::memory_order_relaxed);
  forget_visits_of_loaded_files();
  call_each(forgetting);
}

void set_process(std::int32_t process) noexcept {
  ++generation_before;
  process_page.process.store(process, std::memory_order_relaxed);
  process_page.generation.store(generation_before, std::memory_order_release);
}

bool is_of_this_thread(const ForkUnderWay& fork) noexcept { return fork.thread.load(std::memory_order_relaxed) == thread_address(); }

// Null if all places stay taken for long: their owners may wait in their preparations for this thread.
ForkUnderWay* begin_forking() noexcept {
  const std::uintptr_t self = thread_address();
  const std::int64_t begin = monotonic_now();
  do {
    for (ForkUnderWay& each : forks_under_way) {
      std::uintptr_t nobody = 0;
      if (!each.thread.compare_exchange_strong(nobody, self, std::memory_order_acquire)) continue;
      each.stage.store(ForkUnderWay::Stage::kWaiting);
      return &each;
    }
    system::yield();
  } while (monotonic_now() - begin < kForkPatience);
  return nullptr;
}

// Ends the innermost fork of this thread. Returns true if no outer fork is left, in whose preparation it was made.
bool end_forking() noexcept {
  const auto own = std::find_if(std::begin(forks_under_way), std::end(forks_under_way), is_of_this_thread);
  if (own != std::end(forks_under_way)) own->thread.store(0, std::memory_order_release);
  return std::none_of(std::begin(forks_under_way), std::end(forks_under_way), is_of_this_thread);
}

// Several threads may fork at the same time: one may hold what another waits for in the program's own preparations, which run after ours. Those preparations
// see the program's signal mask and may set another for the child, so signals are held only within ours. A handler that runs in between finds the locks held by
// its own thread, and may use them.
void before_fork() noexcept {
  const HeldSignals held;
  ForkUnderWay* const fork = begin_forking();
  if (may_look_at_loaded_files()) call_each(preparing);
  if (fork != nullptr) wait_for_visits_of_loaded_files(*fork);  // before taking the locks, because a visitor may wait for one
  for_each_held([](Lock& lock) { lock.lock_to_fork(); });
}

void after_fork_in_parent() noexcept {
  const HeldSignals held;
  if (end_forking()) for_each_held([](Lock& lock) { lock.unlock_behind_fork(); });
}

// A handler of the program may have made the agent look already.
void after_fork_in_child() noexcept {
  const HeldSignals held;
  for (ForkUnderWay& each : forks_under_way)  // a fork in whose preparation this child was forked belongs to the parent
    if (is_of_this_thread(each)) each.thread.store(0, std::memory_order_relaxed);
  if (last_generation() == 0 || !may_ask_for_numbers() || !is_own_process()) {
    forget_parent();
    // The number of its only thread is the number of the process. It comes from the C library, because the kernel may end the process for asking.
    set_process(static_cast<std::int32_t>(this_thread_id_after_fork(generation_before + 1)));
  }
  is_forked_unnoticed.store(false, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t identify_process() noexcept {
  const HeldSignals held;
  while (process_page.is_being_identified.exchange(true, std::memory_order_acquire)) system::yield();
  if (last_generation() == 0) {
    if (generation_before == 0) {
      if (may_join()) madvise(&process_page, sizeof(process_page), MADV_WIPEONFORK);
    } else {
      forget_parent();
      is_forked_unnoticed.store(true, std::memory_order_relaxed);
    }
    set_process(may_ask_for_numbers() ? system::process_id() : static_cast<std::int32_t>(this_thread_id_unasked()));
  }
  process_page.is_being_identified.store(false, std::memory_order_release);
  return last_generation();
}

std::uint32_t process_number() noexcept {
  process_generation();
  return own_number.load(std::memory_order_relaxed);
}

bool was_forked_unnoticed() noexcept {
  process_generation();
  return is_forked_unnoticed.load(std::memory_order_relaxed);
}

void begin_generation() noexcept {
  process_generation();
  set_process(process_page.process.load(std::memory_order_relaxed));
}

bool is_own_process() noexcept { return process_page.process.load(std::memory_order_relaxed) == system::process_id(); }

bool is_thread_of_process(std::uint32_t thread) noexcept {
  const std::int32_t known = process_page.process.load(std::memory_order_relaxed);
  const std::int32_t process = known != 0 ? known : system::process_id();
  return system::system_call(SYS_tgkill, process, static_cast<long>(thread), 0) != -ESRCH;
}

void watch_forks() noexcept {
  process_generation();
  if (!watches.exchange(true)) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void before_forking(void (*prepare)()) noexcept { add_once(preparing, prepare); }

void hold_across_forks(Lock& lock) noexcept { add_once(held_locks, &lock); }

void on_fork_child(void (*forget)()) noexcept { add_once(forgetting, forget); }

}  // namespace lanescope::agent
