// The forks that threads of this process make just now: who holds what over a fork, and who keeps off meanwhile, look here.
//
// A thread enters its fork before anything that is held over it is taken, and takes it out in the parent and in the child, which has the others'
// entries at first and forgets them. A preparation of the program's may fork itself: such a thread has several.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

struct ForkUnderWay {
  enum class Stage : std::uint32_t {
    kWaiting,  // for who is in what must be free in the child
    kForking,  // from here on others wait for it
  };
  std::atomic<std::uintptr_t> thread{0};  // its address in the C library, which stays in the child; 0: no fork
  std::atomic<Stage> stage{Stage::kWaiting};
};

// Where more threads fork, the others wait 100 ms (kForkPatience) for a place, and fork then without one: nobody waits for them.
inline constexpr std::size_t kMostForks = 64;
[[gnu::visibility("hidden")]] inline constinit ForkUnderWay forks_under_way[kMostForks] = {};

// ns for which a thread waits for one that forks before it goes on all the same, since that one may wait for it: longer than nearly all forks take, of
// which those of programs that use CUDA take 10 to 40 ms.
inline constexpr std::int64_t kForkPatience = 100'000'000;

}  // namespace lanescope::agent
