// The addresses in this process at which memory of sessions lies, or lay.
//
// A thread may stop for any time while it writes an event, and then continues to write to the memory of the session in which the event began. So these
// addresses are never unmapped; later sessions reuse them. The next session's memory is mapped over that of the session before the last two, in one step, so
// that there is memory at each moment. Three places are thus enough however often sessions attach, and one more for each session that somebody holds. If the
// process may have no more addresses (ulimit -v), the memory is mapped over that of the last session but one, which must do then.
//
// A thread that stayed in an event during two whole sessions, or one, then writes to the memory of the next session with the layout of the first. It stays
// within the place, because the place has the size of the largest session it ever had. This can spoil records of the new session, which are counted as damaged
// or lost, or show an event of that thread in it. The target bounds what it reads there, and the host believes nothing that it reads there.
//
// Threads: any. There are no locks: in a child that was forked during a change, at worst a place stays in use for good.
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

  // Maps this many bytes of the memory file, which must have them: over a place that was left two sessions ago, if there is one, else at new addresses, else
  // over a place that was left one session ago. Null if none of these works. `generation`: that of this process before the session (process/forks.h).
  void* map(int file, std::uint64_t bytes, std::uint32_t generation) noexcept;

  // From here on nobody begins to use the memory that lies here. Does nothing if no session's memory lies there.
  void leave(const void* begin, std::uint32_t generation) noexcept;

  // The holder may continue to write to the memory after it was left, until release(); the release then counts as the time at which it was left.
  void hold(const void* begin) noexcept;
  void release(const void* begin, std::uint32_t generation) noexcept;
  // For a forked child: the holders do not exist there.
  void forget_holders() noexcept;

 private:
  struct Place {
    std::atomic<const void*> begin{nullptr};  // null: none
    std::atomic<std::uint64_t> bytes{0};      // mapped bytes
    std::atomic<std::uint32_t> left_in{0};    // generation; 0: in use
    std::atomic<std::uint32_t> holders{0};
  };
  // More than there are of each size; memory that finds no entry here keeps its addresses for good.
  static constexpr std::size_t kMost = 32;

  Place* find(const void* begin) noexcept;
  // The smallest place that is large enough and was left that many sessions ago; it is then in use.
  Place* take(std::uint64_t bytes, std::uint32_t generation, std::uint32_t sessions_between) noexcept;
  void remember(const void* begin, std::uint64_t bytes) noexcept;

  std::array<Place, kMost> places_;
};

// The places of this process.
extern constinit Places session_places;

}  // namespace lanescope::agent
