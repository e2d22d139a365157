// A turn at the list of loaded files. Not a lock: whoever forks within a callback of the loader would wait for one that waits for the loader.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent {

class [[nodiscard]] Turn {
 public:
  // Whose turn it is: a kernel thread id; 0: nobody's. In a forked child, whoever had it does not exist: to be set to 0 there.
  using Holder = std::atomic<std::uint32_t>;

  // Waits for the one whose turn it is, half a second at most; not where that one may wait for a thread of the program that is in the list.
  explicit Turn(Holder& holder) noexcept : holder_(holder) {
    constexpr std::int64_t kLook = kMillisecond / 20;
    const std::int64_t give_up = monotonic_now() + kSecond / 2;
    std::uint32_t nobody = 0;
    while (!holder_.compare_exchange_strong(nobody, this_thread_id(), std::memory_order_acquire)) {
      nobody = 0;
      if (monotonic_now() >= give_up || !is_list_free_of_program()) return;
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
