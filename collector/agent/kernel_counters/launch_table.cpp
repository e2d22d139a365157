#include "agent/kernel_counters/launch_table.h"

namespace lanescope::agent::kernel_counters {
namespace {

// FNV-1a.
std::uint64_t key_of(const Launch& launch) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const char letter : launch.name) mix(static_cast<unsigned char>(letter));
  for (const std::uint32_t part : launch.shape) mix(part);
  return hash | 1;
}

}  // namespace

LaunchEntry* LaunchTable::find(const Launch& launch) noexcept {
  if (!places_.resize(kPlaces)) return nullptr;
  const std::uint64_t key = key_of(launch);
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
