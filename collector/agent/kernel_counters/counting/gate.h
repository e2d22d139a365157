// Lets one launch of a process run alone: while its counters are read, no other launch begins, and none is in progress.
//
// CUPTI counts everything that runs in the meantime, and a CUDA graph that is launched while a kernel is replayed does not run at all.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::kernel_counters {

class Gate {
 public:
  // Call before a launch that need not be alone; leave() must follow. Waits while another is alone, but at most kPatience, because that one may wait for this
  // one. Returns false then.
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

  // The caller is alone from here to open(). False if other launches stay in progress.
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
