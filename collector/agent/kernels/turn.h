// The right to work with CUPTI's samples: a lock for which nobody waits without limit.
//
// CUPTI holds locks of its own while it calls back, and while another thread calls it, so the holder may wait for the thread that waits here. Therefore waiting
// ends after a while, and the work is skipped.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::kernels {

class Turn {
 public:
  // Returns true if *this was taken. Takes at most 200 ms.
  bool take() noexcept {
    const std::int64_t give_up = monotonic_now() + 200 * kMillisecond;
    while (is_taken_.exchange(true, std::memory_order_acquire)) {
      if (monotonic_now() >= give_up) return false;
      system::sleep(kMillisecond / 10);
    }
    return true;
  }
  void give() noexcept { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

class [[nodiscard]] ScopedTurn {
 public:
  explicit ScopedTurn(Turn& turn) noexcept : turn_(turn), is_ours_(turn.take()) {}
  ~ScopedTurn() {
    if (is_ours_) turn_.give();
  }
  ScopedTurn(const ScopedTurn&) = delete;
  ScopedTurn& operator=(const ScopedTurn&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return is_ours_; }

 private:
  Turn& turn_;
  bool is_ours_;
};

}  // namespace lanescope::agent::kernels
