#include "agent/core/loader/loader.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include <dlfcn.h>
#include <pthread.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/process/forks.h"

namespace lanescope::agent {
namespace {

constexpr std::int64_t kVisitPatience = 2 * kSecond;  // how long to wait for a thread that works in the list, and how long our threads wait for one that forks
// How long to wait for one of our threads that waits for a moment without forks. It holds nothing that a forking thread waits for. If all processors are busy,
// forks take longer than the short time for which others are waited for.
constexpr std::int64_t kOwnThreadPatience = kSecond / 2;
constexpr std::int64_t kVisitLook = kMillisecond / 20;
constexpr std::int64_t kAgentPatience = 100 * kMillisecond;  // how long a thread of the program waits for one that is there for the agent
constexpr std::int64_t kProgramPatience = kMillisecond;      // how long to wait for a thread of the program in the list; most stay some microseconds
constexpr std::size_t kMostVisitors = 32;                    // others are not waited for
constexpr std::size_t kMostOwnThreads = 8;

using Load = void* (*)(const char*, int);
using Iterate = int (*)(VisitFile, void*);

constinit std::atomic<Load> next_load{nullptr};
constinit std::atomic<Iterate> next_iterate{nullptr};

template <typename Function>
Function next(std::atomic<Function>& known, const char* name) noexcept {
  Function function = known.load(std::memory_order_relaxed);
  if (function == nullptr) known.store(function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)), std::memory_order_relaxed);
  return function;
}

// A thread by its address in the C library, which is even and costs no system call; kHasLock is set if the thread holds the lock of the list.
using Visitor = std::uintptr_t;
constexpr Visitor kHasLock = 1;
constinit std::atomic<Visitor> visitors[kMostVisitors] = {};  // 0: none
constinit std::atomic<Visitor> visiting_own_threads[kMostOwnThreads] = {};

Visitor this_thread() noexcept { return static_cast<Visitor>(pthread_self()); }

bool is_own(Visitor visitor) noexcept {
  return std::any_of(std::begin(visiting_own_threads), std::end(visiting_own_threads),
                     [visitor](const std::atomic<Visitor>& own) { return own.load() == visitor; });
}

// How many threads of the program are in the list, or about to be. One that is there by its own call may wait there for another thread, and that one must
// not wait for the list within a call in which alone it would not. So each says that it comes before it looks for the other: who visits for the agent
// leaves again then, and who visits for the program waits, which does not take long.
class ThreadCount {
 public:
  using Depth = std::uint32_t;  // nested visits of one thread, and those that it has left by a jump
  void enter(Depth& depth) noexcept {
    if (depth++ == 0) count_.fetch_add(1);
  }
  void leave(Depth& depth) noexcept {
    if (--depth != 0) return;
    count_.fetch_sub(1);
    left_.fetch_add(1);
  }
  // How many visits have ended.
  [[nodiscard]] std::uint32_t left() const noexcept { return left_.load(); }
  // `depth`: the depth of this thread.
  [[nodiscard]] bool has_another(Depth depth) const noexcept { return count_.load() > (depth != 0 ? 1U : 0U); }
  [[nodiscard]] bool has_any() const noexcept { return count_.load() != 0; }
  // In a forked child.
  void forget_others(Depth depth) noexcept { count_.store(depth != 0 ? 1 : 0); }

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> left_{0};
};
constinit ThreadCount visiting_for_program;
constinit ThreadCount visiting_for_agent;  // during calls of the program
constinit std::atomic<std::uint32_t> unseen_visits{0};
// The lock of the list belongs for ever to a thread of an ancestor of this process, which then can't load files either: the C library frees it in no child.
constinit std::atomic<bool> is_list_lost{false};
constinit thread_local ThreadCount::Depth own_visits_for_program = 0;
constinit thread_local ThreadCount::Depth own_visits_for_agent = 0;

// True if another of these threads stays there for that long. It is waited for once, and not again while it stays, because a visit that was left by a jump
// stays for ever.
class Staying {
 public:
  bool is_any(const ThreadCount& threads, ThreadCount::Depth own, std::int64_t patience) noexcept {
    if (!threads.has_another(own)) return is_known_ = false;
    for (const std::int64_t begin = monotonic_now(); threads.has_another(own); system::sleep(kVisitLook))
      if (is_known_ || monotonic_now() - begin >= patience) return is_known_ = true;
    return is_known_ = false;
  }

 private:
  std::atomic<bool> is_known_{false};
};

class [[nodiscard]] VisitForProgram {
 public:
  VisitForProgram() noexcept {
    static constinit Staying staying;
    visiting_for_program.enter(own_visits_for_program);
    if (own_visits_for_program == 1) staying.is_any(visiting_for_agent, own_visits_for_agent, kAgentPatience);
  }
  ~VisitForProgram() { visiting_for_program.leave(own_visits_for_program); }
  VisitForProgram(const VisitForProgram&) = delete;
  VisitForProgram& operator=(const VisitForProgram&) = delete;
};

// Nested visits may go on, because the list belongs to this thread.
class [[nodiscard]] VisitForAgent {
 public:
  VisitForAgent() noexcept { visiting_for_agent.enter(own_visits_for_agent); }
  ~VisitForAgent() { visiting_for_agent.leave(own_visits_for_agent); }
  VisitForAgent(const VisitForAgent&) = delete;
  VisitForAgent& operator=(const VisitForAgent&) = delete;
  [[nodiscard]] bool may_go_on() const noexcept { return own_visits_for_agent > 1 || !visiting_for_program.has_another(own_visits_for_program); }
};

// True if another thread of the program stays there for long.
bool does_program_stay_in_list() noexcept {
  static constinit Staying staying;
  return staying.is_any(visiting_for_program, own_visits_for_program, kProgramPatience);
}

// True if the list becomes free within kAgentPatience, or goes from one thread of the program to the next. A thread that has left its visit by a jump keeps the
// lock.
bool is_list_handed_on() noexcept {
  const std::uint32_t left = visiting_for_program.left();
  for (const std::int64_t begin = monotonic_now(); visiting_for_program.has_another(own_visits_for_program); system::sleep(kVisitLook)) {
    if (visiting_for_program.left() != left) return true;
    if (monotonic_now() - begin >= kAgentPatience) return false;
  }
  return true;
}

int iterate(VisitFile visit, void* data) noexcept {
  const Iterate function = next(next_iterate, "dl_iterate_phdr");
  return function != nullptr ? function(visit, data) : 0;
}

class [[nodiscard]] CountedVisit {
 public:
  CountedVisit(VisitFile visit, void* data, std::int64_t begin) noexcept : begin_(begin), visit_(visit), data_(data) {
    enter();  // a thread that forks from here on waits for us, so that there is a moment without forks
    while (must_wait()) system::sleep(kVisitLook);
  }
  ~CountedVisit() { leave(); }
  CountedVisit(const CountedVisit&) = delete;
  CountedVisit& operator=(const CountedVisit&) = delete;

  static int look_at(dl_phdr_info* file, std::size_t size, void* own) noexcept {
    auto& visit = *static_cast<CountedVisit*>(own);
    if ((visit.known_ & kHasLock) == 0) {
      visit.become(visit.self_ | kHasLock);
      visit.has_given_way_ = visit.must_wait();  // a thread that has forked for long enough did not wait until this thread had a processor and the lock
      if (visit.has_given_way_) return 1;
    }
    return visit.visit_(file, size, visit.data_);
  }

  // True if it left the list at once because another thread forks.
  [[nodiscard]] bool has_given_way() const noexcept { return has_given_way_; }

 private:
  // Waits for a limited time, because a thread of the program may hold what the forking thread waits for.
  [[nodiscard]] bool must_wait() const noexcept {
    const std::int64_t patience = is_own(self_) ? kVisitPatience : kForkPatience;
    return does_another_thread_fork() && monotonic_now() - begin_ < patience;
  }
  void enter() noexcept {
    for (std::atomic<Visitor>& place : visitors) {
      Visitor nobody = 0;
      if (!place.compare_exchange_strong(nobody, self_)) continue;
      place_ = &place;
      known_ = self_;
      return;
    }
  }
  void leave() noexcept {
    become(0);
    place_ = nullptr;
  }
  // A visit that nobody waits for any more has lost its place, perhaps to another visitor.
  void become(Visitor visitor) noexcept {
    Visitor known = known_;
    known_ = visitor;
    if (place_ != nullptr && !place_->compare_exchange_strong(known, visitor)) place_ = nullptr;
  }

  const Visitor self_ = this_thread();
  Visitor known_ = 0;  // the value at the place
  std::atomic<Visitor>* place_ = nullptr;
  const std::int64_t begin_;  // time of the first try
  bool has_given_way_ = false;
  VisitFile visit_;
  void* data_;
};

// How long a forking thread waits for a visitor without the lock, which it can't get while the program stays in the list.
std::int64_t patience_of_fork(Visitor visitor) noexcept {
  if (does_program_stay_in_list()) return kProgramPatience;
  return is_own(visitor & ~kHasLock) ? kOwnThreadPatience : kForkPatience;
}

// Waits until the visitor leaves. If it does not leave in time, its thread has ended there, and nobody waits for that visit any more. A visitor that does not
// have the lock yet is waited for only briefly, because the forking thread may hold the lock itself.
void wait_for_end(std::atomic<Visitor>& place, std::int64_t begin) noexcept {
  for (Visitor visitor = place.load(); visitor != 0 && (visitor & ~kHasLock) != this_thread(); visitor = place.load()) {
    const bool has_lock = (visitor & kHasLock) != 0;
    const std::int64_t waited = monotonic_now() - begin;
    if (!has_lock && waited >= patience_of_fork(visitor)) return;
    if (waited >= kVisitPatience && place.compare_exchange_strong(visitor, 0)) return;
    system::sleep(kVisitLook);
  }
}

// True if another thread is in the list, or about to be, and a fork that has waited for `waited` ns still waits for it.
bool is_anyone_waited_for(std::int64_t waited) noexcept {
  return std::any_of(std::begin(visitors), std::end(visitors), [waited](const std::atomic<Visitor>& place) {
    const Visitor visitor = place.load() & ~kHasLock;
    return visitor != 0 && visitor != this_thread() && waited < patience_of_fork(visitor);
  });
}

}  // namespace

void* load_file(const char* path, int mode) noexcept {
  const Load load = next(next_load, "dlopen");
  return load != nullptr ? load(path, mode) : nullptr;
}

// The file is the same, so the loader adds the path to the names of the loaded file. A file that is not loaded yet is not loaded.
void be_known_by_tools_path() noexcept {
  for (const char* const variable : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"})
    if (const char* const path = getenv(variable); path != nullptr && *path == '/') load_file(path, RTLD_LAZY | RTLD_NOLOAD);
}

int visit_loaded_files(VisitFile visit, void* data) noexcept {
  for (const std::int64_t begin = monotonic_now();;) {
    CountedVisit own(visit, data, begin);
    const int result = iterate(&CountedVisit::look_at, &own);
    if (!own.has_given_way()) return result;
  }
}

int visit_loaded_files_now(VisitFile visit, void* data) noexcept {
  if (has_lost_list()) return kNotNow;
  if (is_own(this_thread())) return is_list_handed_on() ? visit_loaded_files(visit, data) : kNotNow;
  for (const std::int64_t begin = monotonic_now(); is_list_free_of_program();) {
    CountedVisit own(visit, data, begin);
    const VisitForAgent in_list;
    if (!in_list.may_go_on()) {
      if (monotonic_now() - begin >= kProgramPatience) break;
      continue;
    }
    const int result = iterate(&CountedVisit::look_at, &own);
    if (!own.has_given_way()) return result;
  }
  return kNotNow;
}

bool is_list_free_of_program() noexcept {
  if (has_lost_list()) return false;
  if (own_visits_for_agent != 0) return true;
  if (is_own(this_thread())) return is_list_handed_on();
  return unseen_visits.load() == 0 && !does_program_stay_in_list();
}

// A child that has not looked yet has its parent's visits until it looks.
bool has_lost_list() noexcept {
  process_generation();
  return is_list_lost.load(std::memory_order_relaxed);
}

UnseenVisits::UnseenVisits() noexcept { unseen_visits.fetch_add(1); }

UnseenVisits::~UnseenVisits() { unseen_visits.fetch_sub(1); }

void* real_dl_iterate_phdr() noexcept { return reinterpret_cast<void*>(next(next_iterate, "dl_iterate_phdr")); }

// The program's callback may be left by an exception or by the end of its thread. No destructors run then, because the agent has no C++ unwinding of its own.
// But the program's runtime, which unwinds the stack, calls the personality function that is named here.
[[gnu::noinline]] int visit_loaded_files_for_program(VisitFile visit, void* data) noexcept {
  __asm__ volatile(".cfi_personality 0x1b, lanescope_unwind_visit");  // a four-byte address, relative to its place
  const VisitForProgram in_list;
  return iterate(visit, data);
}

// As in the C++ ABI (_Unwind_Personality_Fn). The first phase looks for a handler, the second one cleans up.
extern "C" [[gnu::visibility("hidden"), gnu::used]] int lanescope_unwind_visit(int, int actions, std::uint64_t, void*, void*) noexcept {
  constexpr int kCleansUp = 2;
  constexpr int kGoOn = 8;
  if ((actions & kCleansUp) != 0) visiting_for_program.leave(own_visits_for_program);
  return kGoOn;
}

void wait_for_visits_of_loaded_files(ForkUnderWay& fork) noexcept {
  const std::int64_t begin = monotonic_now();
  bool is_free = false;
  while (!is_free) {
    fork.stage.store(ForkUnderWay::Stage::kWaiting);
    for (std::atomic<Visitor>& place : visitors) wait_for_end(place, begin);
    fork.stage.store(ForkUnderWay::Stage::kForking);
    // A visitor that came in between saw no fork.
    is_free = !is_anyone_waited_for(monotonic_now() - begin);
  }
}

void add_own_thread() noexcept {
  for (std::atomic<Visitor>& own : visiting_own_threads)
    if (Visitor nobody = 0; own.compare_exchange_strong(nobody, this_thread())) return;
}

void remove_own_thread() noexcept {
  for (std::atomic<Visitor>& own : visiting_own_threads)
    if (Visitor self = this_thread(); own.compare_exchange_strong(self, 0)) return;
}

void forget_visits_of_loaded_files() noexcept {
  const auto has_lock = [](const std::atomic<Visitor>& place) { return (place.load() & kHasLock) != 0; };
  if (visiting_for_program.has_any() || std::any_of(std::begin(visitors), std::end(visitors), has_lock)) is_list_lost.store(true, std::memory_order_relaxed);
  visiting_for_program.forget_others(own_visits_for_program);
  visiting_for_agent.forget_others(own_visits_for_agent);
  unseen_visits.store(0);
  for (std::atomic<Visitor>& own : visiting_own_threads) own.store(0);
  for (std::atomic<Visitor>& place : visitors) place.store(0);
}

}  // namespace lanescope::agent
