#include "agent/kernel_counters/choice/launch_table.h"

namespace lanescope::agent::kernel_counters {

LaunchEntry* LaunchTable::find(const Launch& launch) noexcept {
  if (!places_.resize(kPlaces)) return nullptr;
  const std::uint64_t key = channel::launch_kind(launch.name, launch.shape);
  for (std::size_t at = key >> 8;; ++at) {
    LaunchEntry& entry = places_[at % kPlaces];
    if (entry.key == key) return &entry;
    if (entry.key != 0) continue;
    if (used_ >= kPlaces / 2) return nullptr;
    ++used_;
    entry = LaunchEntry{};
    entry.key = key;
    return &entry;
  }
}

}  // namespace lanescope::agent::kernel_counters
