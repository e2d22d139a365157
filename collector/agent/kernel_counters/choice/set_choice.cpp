#include "agent/kernel_counters/choice/set_choice.h"

namespace lanescope::agent::kernel_counters {
namespace {

std::uint64_t bit_of(const ContextCounters& counters, const Set& set) noexcept { return std::uint64_t{1} << (&set - counters.sets().data()); }

}  // namespace

const Set* SetChoice::choose(const ContextCounters& counters, const LaunchEntry& entry) noexcept {
  const Set* const configured = counters.configured();
  if (configured != nullptr && (entry.counted & bit_of(counters, *configured)) == 0) {
    chosen_ = bit_of(counters, *configured);
    return configured;
  }
  if (configured != nullptr && (is_spent() || is_early())) return nullptr;
  for (const Set& set : counters.sets()) {
    if ((entry.counted & bit_of(counters, set)) != 0) continue;
    if (configured != nullptr) ++changes_;
    last_change_ = monotonic_now();
    chosen_ = bit_of(counters, set);
    return &set;
  }
  return nullptr;
}

bool SetChoice::is_to_wait(const LaunchEntry& entry) const noexcept { return (entry.counted & chosen_) != 0 && !is_spent() && is_early(); }

bool complete(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept {
  entry.counted |= bit_of(counters, set);
  for (const Set& each : counters.sets())
    if ((entry.counted & bit_of(counters, each)) == 0) return false;
  entry.counted = 0;
  entry.group = 0;
  return true;
}

}  // namespace lanescope::agent::kernel_counters
