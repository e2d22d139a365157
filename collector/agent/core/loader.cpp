#include "agent/core/loader.h"

#include <atomic>
#include <cstdint>

#include <dlfcn.h>
#include <pthread.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::int64_t kEntryPatience = kSecond / 2;  // with who is about to enter, and may wait for us
constexpr std::int64_t kVisitPatience = 2 * kSecond;  // with who is at work in the list
constexpr std::int64_t kVisitLook = kMillisecond / 20;
constexpr std::size_t kMostVisitors = 32;  // others are not waited for

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

// A thread by its address in the C library, which is even and costs no system call, and whether the list is locked by it.
using Visitor = std::uintptr_t;
constexpr Visitor kHasLock = 1;
constinit std::atomic<Visitor> visitors[kMostVisitors] = {};  // 0: none
constinit std::atomic<Visitor> forker{0};

Visitor this_thread() noexcept { return static_cast<Visitor>(pthread_self()); }

class [[nodiscard]] CountedVisit {
 public:
  CountedVisit(VisitFile visit, void* data) noexcept : visit_(visit), data_(data) {
    std::int64_t give_up = 0;
    while (true) {
      enter();
      const Visitor forking = forker.load();
      if (forking == 0 || forking == self_) return;
      if (give_up == 0) give_up = monotonic_now() + kVisitPatience;  // a fork of much memory takes long
      if (monotonic_now() >= give_up) return;
      leave();
      system::sleep(kVisitLook);
    }
  }
  ~CountedVisit() { leave(); }
  CountedVisit(const CountedVisit&) = delete;
  CountedVisit& operator=(const CountedVisit&) = delete;

  static int look_at(dl_phdr_info* file, std::size_t size, void* own) noexcept {
    auto& visit = *static_cast<CountedVisit*>(own);
    if ((visit.known_ & kHasLock) == 0) visit.become(visit.self_ | kHasLock);
    return visit.visit_(file, size, visit.data_);
  }

 private:
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
  // Whom nobody waits for any more has lost its place, perhaps to another one.
  void become(Visitor visitor) noexcept {
    Visitor known = known_;
    known_ = visitor;
    if (place_ != nullptr && !place_->compare_exchange_strong(known, visitor)) place_ = nullptr;
  }

  const Visitor self_ = this_thread();
  Visitor known_ = 0;  // what stands at the place
  std::atomic<Visitor>* place_ = nullptr;
  VisitFile visit_;
  void* data_;
};

// Where it does not leave in time, its thread has ended there, or waits for the one that forks: nobody waits for that visit any more.
void wait_for_end(std::atomic<Visitor>& place, std::int64_t begin) noexcept {
  for (Visitor visitor = place.load(); visitor != 0 && (visitor & ~kHasLock) != this_thread(); visitor = place.load()) {
    const bool is_late = monotonic_now() - begin >= ((visitor & kHasLock) != 0 ? kVisitPatience : kEntryPatience);
    if (is_late && place.compare_exchange_strong(visitor, 0)) return;
    system::sleep(kVisitLook);
  }
}

}  // namespace

void* load_file(const char* path, int mode) noexcept {
  const Load load = next(next_load, "dlopen");
  return load != nullptr ? load(path, mode) : nullptr;
}

int visit_loaded_files(VisitFile visit, void* data) noexcept {
  CountedVisit own(visit, data);
  return visit_loaded_files_for_program(&CountedVisit::look_at, &own);
}

int visit_loaded_files_for_program(VisitFile visit, void* data) noexcept {
  const Iterate iterate = next(next_iterate, "dl_iterate_phdr");
  return iterate != nullptr ? iterate(visit, data) : 0;
}

void keep_out_of_loaded_files() noexcept {
  forker.store(this_thread());
  const std::int64_t begin = monotonic_now();
  for (std::atomic<Visitor>& place : visitors) wait_for_end(place, begin);
}

void admit_to_loaded_files() noexcept {
  forker.store(0);
}

void forget_visits_of_loaded_files() noexcept {
  forker.store(0);
  for (std::atomic<Visitor>& place : visitors) place.store(0);
}

}  // namespace lanescope::agent
