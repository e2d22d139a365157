// The turn of one thread at the list of loaded files.
//
// It is no lock: it may be refused after a limited time. A thread that forks within a callback of the loader would otherwise wait for ever for a holder that
// waits for the loader.
//
// Threads: any. The child of a fork must set the holder to 0, because the holder's thread does not exist there.
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
  // The kernel's number of the thread whose turn it is; 0: nobody's.
  using Holder = std::atomic<std::uint32_t>;

  // Takes the turn, or waits until the holder has ended its own: at most half a second; at most kForkPatience while another thread forks, because the holder
  // may wait for that thread. Does not wait if this thread forks, or if a thread of the program is in the list. Converts to false if the turn was refused.
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
