// Lets one launch of a process be alone: while its counters are read, no other launch begins, and none that began is under way.
//
// CUPTI counts whatever runs meanwhile, and what is launched as a CUDA graph while a kernel is replayed does not run at all.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::kernel_counters {

class Gate {
 public:
  // Before a launch that is not to be alone; leave() follows. Waits while another is alone, but no longer than kPatience: the one that is
  // alone may wait for this one. False then.
  bool enter() noexcept {
    const std::int64_t give_up = monotonic_now() + kPatience;
    while (true) {
      for (std::uint32_t holder = alone_.load(); holder != 0; holder = alone_.load()) {
        const std::int64_t left = give_up - monotonic_now();
        if (left <= 0) {
          ++under_way_;
          return false;
        }
        system::futex_wait(&alone_, holder, left);
      }
      ++under_way_;
      if (alone_.load() == 0) return true;
      --under_way_;
    }
  }
  void leave() noexcept { --under_way_; }

  // Alone from here to open(). False where others are under way and stay it.
  bool close() noexcept {
    std::uint32_t nobody = 0;
    if (!alone_.compare_exchange_strong(nobody, system::thread_id())) return false;
    const std::int64_t give_up = monotonic_now() + kOthers;
    while (under_way_.load() != 0) {
      if (monotonic_now() >= give_up) {
        open();
        return false;
      }
      system::sleep(kMillisecond / 50);
    }
    return true;
  }
  void open() noexcept {
    alone_.store(0);
    system::futex_wake(&alone_, INT_MAX);
  }

 private:
  static constexpr std::int64_t kPatience = 30 * kSecond;
  static constexpr std::int64_t kOthers = 20 * kMillisecond;

  std::atomic<std::uint32_t> alone_{0};  // kernel thread id; futex
  std::atomic<std::uint32_t> under_way_{0};
};

}  // namespace lanescope::agent::kernel_counters
