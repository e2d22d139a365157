// Numbers for the keys of some events, from 0 on in the order in which the keys come. Internal to timeline/core.
//
// Keys are ids of names, details and the like: those of a lane are often the smallest there are, and then looked for in a table. One event may have
// the largest of a million: a table for each of many lanes would take time for each name and lane, so large keys are hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lanescope::timeline {

class KeySlots {
 public:
  static constexpr std::uint32_t kNew = 0xffffffff;

  // Of about so many events. O(events) memory.
  explicit KeySlots(std::size_t events) : table_limit_(kTableOfEvent * events) {}

  // The slot of the key, where kNew stands when the key comes for the first time: to be set then. O(1). Valid until the next call.
  [[nodiscard]] std::uint32_t& slot(std::uint32_t key) {
    if (key >= table_limit_) return hashed_.try_emplace(key, kNew).first->second;
    if (key >= table_.size()) table_.resize(key + std::size_t{1}, kNew);
    return table_[key];
  }

 private:
  static constexpr std::size_t kTableOfEvent = 16;  // entries, at most
  std::size_t table_limit_;
  std::vector<std::uint32_t> table_;
  std::unordered_map<std::uint32_t, std::uint32_t> hashed_;
};

}  // namespace lanescope::timeline
