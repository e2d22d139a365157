// The addresses in this process at which memory of sessions lies, or lay.
//
// A thread may stop in the midst of an event for any time, and then goes on writing to the memory of the session in which the event began. So these
// addresses are never unmapped: they go to later sessions. The next session's memory is put over that of the session before the last two, in one step, so
// that there is memory at each moment. Three places are thus enough however often a process is attached to, and one more for each session that somebody
// holds. Where the process may have no more addresses (ulimit -v), it is put over that of the last one but one already, which then has to do.
//
// A thread that stood in an event over two whole sessions, or over one, writes, once it runs, to the memory of the next, by what it knows of the first: within
// the place, for that has the size of the largest session it ever had. That can spoil records of that session, which are counted as damaged or lost,
// or show an event of that thread in it. The target bounds what it reads there, and the host believes nothing that it reads there.
//
// Threads: any. Nothing is locked: in a child that was forked in the midst of it, a place is used for good at worst.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

class Places {
 public:
  constexpr Places() noexcept = default;
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // Maps so many bytes of the memory file, which has them: over a place that was left two sessions ago, where there is one, else where there is room,
  // else over one that was left a session ago. Null where there is none. `generation`: of this process, before the session (process/forks.h).
  void* map(int file, std::uint64_t bytes, std::uint32_t generation) noexcept;

  // Nobody begins anything with the memory that lies here any more. Does nothing where no session's does.
  void leave(const void* begin, std::uint32_t generation) noexcept;

  // Who holds it goes on writing to it when it was left, until it is released: then it was left at that time.
  void hold(const void* begin) noexcept;
  void release(const void* begin, std::uint32_t generation) noexcept;
  // In a forked child: who held does not exist there.
  void forget_holders() noexcept;

 private:
  struct Place {
    std::atomic<const void*> begin{nullptr};  // null: none
    std::atomic<std::uint64_t> bytes{0};      // that are mapped
    std::atomic<std::uint32_t> left_in{0};    // generation; 0: it is in use
    std::atomic<std::uint32_t> holders{0};
  };
  // More than there are of each size; what finds no room here keeps its addresses for good.
  static constexpr std::size_t kMost = 32;

  Place* find(const void* begin) noexcept;
  // The smallest that is so large and was left so many sessions ago; in use then.
  Place* take(std::uint64_t bytes, std::uint32_t generation, std::uint32_t sessions_between) noexcept;
  void remember(const void* begin, std::uint64_t bytes) noexcept;

  std::array<Place, kMost> places_;
};

// Of this process.
extern constinit Places session_places;

}  // namespace lanescope::agent
