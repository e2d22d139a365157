// A turn at the list of loaded files. Not a lock, because a thread that forks within a callback of the loader would wait for one that waits for the loader.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/forks_under_way.h"
#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent {

class [[nodiscard]] Turn {
 public:
  // The holder: a kernel thread id; 0: nobody. The child of a fork must set it to 0, because the holder does not exist there.
  using Holder = std::atomic<std::uint32_t>;

  // Waits for the one whose turn it is, half a second at most, and no longer than a fork is waited for while another thread forks, whom that one may wait for;
  // not where that is this thread, or a thread of the program that is in the list.
  explicit Turn(Holder& holder) noexcept : holder_(holder) {
    constexpr std::int64_t kLook = kMillisecond / 20;
    const std::int64_t begin = monotonic_now();
    std::uint32_t nobody = 0;
    while (!holder_.compare_exchange_strong(nobody, this_thread_id(), std::memory_order_acquire)) {
      nobody = 0;
      const std::int64_t patience = does_another_thread_fork() ? kForkPatience : kSecond / 2;
      if (does_this_thread_fork() || monotonic_now() - begin >= patience || !is_list_free_of_program()) return;
      system::sleep(kLook);
    }
    is_ours_ = true;
  }
  ~Turn() {
    if (is_ours_) holder_.store(0, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const noexcept { return is_ours_; }

 private:
  Holder& holder_;
  bool is_ours_ = false;
};

}  // namespace lanescope::agent
