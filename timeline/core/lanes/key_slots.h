// Maps the keys of some events to consecutive numbers in the order of their first occurrence. Internal to timeline/core.
//
// Keys are ids of names, details and the like. Those of a lane are often the smallest ids, which are looked up in a table. But one event may have the largest
// of a million ids, and a table for each of many lanes would take time for each name and lane, so large keys are hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lanescope::timeline {

class KeySlots {
 public:
  static constexpr std::uint32_t kNew = 0xffffffff;

  // For about `events` events. Memory: O(events).
  explicit KeySlots(std::size_t events) : table_limit_(kTableOfEvent * events) {}

  // The slot of the key. If the key is new, the slot holds kNew and must be set by the caller. O(1). Valid until the next call.
  [[nodiscard]] std::uint32_t& slot(std::uint32_t key) {
    if (key >= table_limit_) return hashed_.try_emplace(key, kNew).first->second;
    if (key >= table_.size()) table_.resize(key + std::size_t{1}, kNew);
    return table_[key];
  }

 private:
  static constexpr std::size_t kTableOfEvent = 16;  // maximum number of table entries per event
  std::size_t table_limit_;
  std::vector<std::uint32_t> table_;
  std::unordered_map<std::uint32_t, std::uint32_t> hashed_;
};

}  // namespace lanescope::timeline
