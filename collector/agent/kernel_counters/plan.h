// The plan that the host wrote (collector/channel/kernel_counters.h), as seen by this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <regex.h>

#include "collector/channel/kernel_counters.h"

namespace lanescope::agent::kernel_counters {

// A set of metrics for one chip.
struct Set {
  std::uint32_t number = 0;  // number in the plan
  std::uint32_t passes = 0;
  std::span<const std::uint8_t> config;
  const char* const* names = nullptr;
  std::size_t count = 0;
};

class Plan {
 public:
  static constexpr std::size_t kMostSets = 64;

  // Reads the plan from the folder, and waits for it until the deadline (CLOCK_MONOTONIC ns), but not if the folder is gone, because the recording is over. If
  // there is no plan, the host reports the reason; the host does not report that a plan is invalid here.
  enum class Found { kPlan, kNone, kSenseless };
  Found read(const char* folder, std::int64_t deadline) noexcept;

  [[nodiscard]] const channel::LaunchChoice& choice() const noexcept { return plan_->choice; }
  [[nodiscard]] channel::CounterKind kind() const noexcept { return plan_->kind; }
  [[nodiscard]] channel::CounterReplay replay() const noexcept { return plan_->replay; }
  // The sets for a chip, in their order.
  [[nodiscard]] std::size_t sets_for(const char* chip, std::span<Set> sets) const noexcept;
  [[nodiscard]] bool fits(std::string_view mangled) const noexcept;                    // by its name
  [[nodiscard]] const channel::ChosenKind* chosen(std::uint64_t kind) const noexcept;  // null if the kind was not chosen, or none was

 private:
  bool check() noexcept;

  const std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
  const channel::CounterPlan* plan_ = nullptr;
  const channel::CounterSet* sets_[kMostSets] = {};
  const char** names_[kMostSets] = {};
  regex_t pattern_{};
};

}  // namespace lanescope::agent::kernel_counters
