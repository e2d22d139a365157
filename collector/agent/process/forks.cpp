#include "agent/process/forks.h"

#include <cerrno>

#include <pthread.h>
#include <sys/mman.h>

#include "agent/core/loader.h"
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
constinit std::uint32_t generation_before = 0;  // in a child that has not looked yet: its parent's
// Threads that fork, known by their addresses in the C library, which stay in the child; 0: none.
struct ForkingThread {
  std::atomic<std::uintptr_t> thread;
  std::uint64_t signals;  // that it had held before
};
constexpr std::size_t kMostForking = 256;
constinit ForkingThread forking_threads[kMostForking] = {};

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

// Nobody but the calling thread is there.
void forget_parent() noexcept {
  for (ForkingThread& each : forking_threads)
    if (each.thread.load(std::memory_order_relaxed) != thread_address()) each.thread.store(0, std::memory_order_relaxed);
  forget_visits_of_loaded_files();
  for_each_held([](Lock& lock) { lock.forget_holder(); });
  call_each(forgetting);
}

void set_process(std::int32_t process) noexcept {
  ++generation_before;
  process_page.process.store(process, std::memory_order_relaxed);
  process_page.generation.store(generation_before, std::memory_order_release);
}

ForkingThread& begin_forking() noexcept {
  while (true) {
    for (ForkingThread& each : forking_threads)
      if (std::uintptr_t nobody = 0; each.thread.compare_exchange_strong(nobody, thread_address(), std::memory_order_acquire)) return each;
    system::yield();
  }
}

// Returns the signals that this thread had held before.
std::uint64_t end_forking() noexcept {
  for (ForkingThread& each : forking_threads) {
    if (each.thread.load(std::memory_order_relaxed) != thread_address()) continue;
    const std::uint64_t signals = each.signals;
    each.thread.store(0, std::memory_order_release);
    return signals;
  }
  return 0;
}

// Threads may fork at the same time: what one waits for in the program's own preparations, which come behind ours, another one may hold.
void before_fork() noexcept {
  const std::uint64_t signals = HeldSignals::hold();
  begin_forking().signals = signals;
  call_each(preparing);
  keep_out_of_loaded_files();  // before the locks, which a visitor may wait for
  for_each_held([](Lock& lock) { lock.lock_to_fork(); });
}

void after_fork_in_parent() noexcept {
  for_each_held([](Lock& lock) { lock.unlock_behind_fork(); });
  admit_to_loaded_files();
  HeldSignals::give_back(end_forking());
}

// A handler of the program's may have made the agent look by now.
void after_fork_in_child() noexcept {
  const std::uint64_t signals = end_forking();
  if (last_generation() == 0 || !is_own_process()) {
    forget_parent();
    // Its only thread has the number of the process, as the C library knows it: the kernel may end the process for a question.
    set_process(static_cast<std::int32_t>(this_thread_id_after_fork(generation_before + 1)));
  }
  HeldSignals::give_back(signals);
}

}  // namespace

std::uint32_t identify_process() noexcept {
  const HeldSignals held;
  while (process_page.is_being_identified.exchange(true, std::memory_order_acquire)) system::yield();
  if (last_generation() == 0) {
    if (generation_before == 0)
      madvise(&process_page, sizeof(process_page), MADV_WIPEONFORK);
    else
      forget_parent();
    set_process(system::process_id());
  }
  process_page.is_being_identified.store(false, std::memory_order_release);
  return last_generation();
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
