// The forks that threads of this process are making now. Whoever holds something over a fork, or keeps away meanwhile, looks here.
//
// A thread enters its fork before anything that is held over it is taken, and removes it in the parent and in the child. At first the child also has the
// entries of the other threads; it forgets them. A preparation of the program may fork itself, so a thread can have several entries.
//
// Threads: any.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace lanescope::agent {

struct ForkUnderWay {
  enum class Stage : std::uint32_t {
    kWaiting,  // waits for threads that use what must be free in the child
    kForking,  // from here on others wait for this fork
  };
  std::atomic<std::uintptr_t> thread{0};  // the thread's address in the C library, which is the same in the child; 0: no fork
  std::atomic<Stage> stage{Stage::kWaiting};
};

// If more threads fork, the others wait 100 ms (kForkPatience) for a place, and then fork without one: nobody waits for them.
inline constexpr std::size_t kMostForks = 64;
[[gnu::visibility("hidden")]] inline constinit ForkUnderWay forks_under_way[kMostForks] = {};

// ns for which a thread waits for one that forks. Then it goes on all the same, since that one may wait for it. Nearly all forks are faster than this; forks of
// programs that use CUDA take 10 to 40 ms.
inline constexpr std::int64_t kForkPatience = 100'000'000;

// Whether others wait for the calling thread to fork: whoever holds what it wants may be one of them.
[[nodiscard]] inline bool does_this_thread_fork() noexcept {
  return std::any_of(std::begin(forks_under_way), std::end(forks_under_way), [self = static_cast<std::uintptr_t>(pthread_self())](const ForkUnderWay& fork) {
    return fork.thread.load() == self && fork.stage.load() == ForkUnderWay::Stage::kForking;
  });
}

// Whether another thread is one that others wait for.
[[nodiscard]] inline bool does_another_thread_fork() noexcept {
  return std::any_of(std::begin(forks_under_way), std::end(forks_under_way), [self = static_cast<std::uintptr_t>(pthread_self())](const ForkUnderWay& fork) {
    const std::uintptr_t thread = fork.thread.load();
    return thread != 0 && thread != self && fork.stage.load() == ForkUnderWay::Stage::kForking;
  });
}

}  // namespace lanescope::agent
