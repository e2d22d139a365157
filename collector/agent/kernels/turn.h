// Who is at work with CUPTI's samples: a lock that nobody waits for without end.
//
// CUPTI holds locks of its own while it calls back, and while it is asked on another thread: who waits here may be what the holder waits
// for. So waiting ends after a while, and what was to be done is left out.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::kernels {

class Turn {
 public:
  // Whether *this is taken now. Takes 200 ms at most.
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
