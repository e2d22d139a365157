// Chooses the set of a plan with which a launch is counted, if the plan has several and a launch takes one. The configured set comes first, because changing to
// another one is expensive. One thread at a time.
#pragma once

#include <cstdint>

#include "agent/core/clock.h"
#include "agent/kernel_counters/choice/launch_table.h"
#include "agent/kernel_counters/counting/context_counters.h"

namespace lanescope::agent::kernel_counters {

class SetChoice {
 public:
  // CUPTI 13.0 uses up one of its 32 record buffers each time its profiler is enabled again, until the process ends.
  static constexpr std::uint32_t kMostChanges = 20;
  static constexpr std::int64_t kInterval = 100 * kMillisecond;  // multiplied by the number of changes so far: many at first, and still some after minutes

  // A set that the entry's group lacks: the configured one, or another if it is time to change. Null if there is neither.
  const Set* choose(const ContextCounters& counters, const LaunchEntry& entry) noexcept;
  // True if choose() would return null for the set that it chose last, so that a launch need not be delayed to learn it. False if is_spent().
  [[nodiscard]] bool is_to_wait(const LaunchEntry& entry) const noexcept;
  [[nodiscard]] bool is_spent() const noexcept { return changes_ >= kMostChanges; }

 private:
  [[nodiscard]] bool is_early() const noexcept { return monotonic_now() - last_change_ < changes_ * kInterval; }

  std::uint64_t chosen_ = 0;  // the last one, as a bit
  std::uint32_t changes_ = 0;
  std::int64_t last_change_ = 0;  // ns of the monotonic clock
};

// Notes that the entry's group has this set. Returns true if it now has all of them: the entry then proceeds to its next group.
bool complete(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept;

}  // namespace lanescope::agent::kernel_counters
