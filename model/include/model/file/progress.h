// How far a long piece of work has come, for whoever waits for it. Copies share one state: the work says what it has done, and others read the share.
//
// Threads: any. One thread at a time does the work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace lanescope {

class Progress {
 public:
  // The number of steps that the work has, when it is known.
  void begin(std::uint64_t steps) const noexcept {
    state_->done = 0;
    state_->steps = steps;
  }
  // So many steps are done since begin(); never fewer than before.
  void reach(std::uint64_t steps) const noexcept { state_->done = std::max(state_->done.load(std::memory_order_relaxed), steps); }

  // From 0 to 1; nothing if the number of steps is not known (yet).
  [[nodiscard]] std::optional<double> share() const noexcept {
    const std::uint64_t steps = state_->steps;
    if (steps == 0) return std::nullopt;
    return std::min(1.0, static_cast<double>(state_->done.load()) / static_cast<double>(steps));
  }

 private:
  struct State {
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint64_t> done{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace lanescope
