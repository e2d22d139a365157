// Which set of a plan a launch is counted with, where the plan has several and a launch takes one: what is counted already comes first, for
// another set has its price. One thread at a time.
#pragma once

#include <cstdint>

#include "agent/core/clock.h"
#include "agent/kernel_counters/context_counters.h"
#include "agent/kernel_counters/launch_table.h"

namespace lanescope::agent::kernel_counters {

class SetChoice {
 public:
  // CUPTI 13.0 keeps a buffer of records for each time that its profiler is enabled anew, of the 32 that there are, until the process ends.
  static constexpr std::uint32_t kMostChanges = 20;
  static constexpr std::int64_t kInterval = 100 * kMillisecond;  // times the changes so far: many at first, and still some after minutes

  // A set that the entry's group lacks: the configured one, or another where it is time to change. Null where neither is.
  const Set* choose(const ContextCounters& counters, const LaunchEntry& entry) noexcept;
  // Whether choose() would answer null where it chose last, so that a launch need not be held up to learn it. Not where is_spent().
  [[nodiscard]] bool is_to_wait(const LaunchEntry& entry) const noexcept;
  [[nodiscard]] bool is_spent() const noexcept { return changes_ >= kMostChanges; }

 private:
  [[nodiscard]] bool is_early() const noexcept { return monotonic_now() - last_change_ < changes_ * kInterval; }

  std::uint64_t chosen_ = 0;  // the last one, as a bit
  std::uint32_t changes_ = 0;
  std::int64_t last_change_ = 0;  // ns, of the monotonic clock
};

// The entry's group has this set. Whether it has all of them: then the entry stands before its next group.
bool complete(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept;

}  // namespace lanescope::agent::kernel_counters
