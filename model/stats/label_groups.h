// Collects samples under labels. Internal to reports.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "model/stats/selection.h"
#include "summary.h"

namespace lanescope::stats {

// Samples by name: an array access each.
class SamplesByName {
 public:
  explicit SamplesByName(const Trace& trace) : samples_(trace.name_count()) {}
  void add(NameId name, std::int64_t sample) { samples_[name].push_back(sample); }
  // Calls take(NameId, Samples&&) for each name that has samples.
  template <typename Take>
  void for_each(Take take) {
    for (NameId name = 0; name < samples_.size(); ++name)
      if (!samples_[name].empty()) take(name, std::move(samples_[name]));
  }

 private:
  std::vector<Samples> samples_;
};

// Hashes keys of several ids.
template <std::size_t N>
struct IdHash {
  std::size_t operator()(const std::array<std::uint32_t, N>& ids) const noexcept {
    std::uint64_t hash = 0;
    for (const std::uint32_t id : ids) hash = (hash ^ id) * 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};

// Groups by several ids, in the order in which they were first asked for: a hash table with open addressing, so that nearly every look-up
// reads one slot.
template <std::size_t N, typename Group>
class GroupsByIds {
 public:
  using Key = std::array<std::uint32_t, N>;
  Group& operator[](const Key& key) {
    if (2 * groups_.size() >= slots_.size()) grow();
    Slot& slot = slot_of(key);
    if (slot.group == kNone) {
      slot = {key, static_cast<std::uint32_t>(groups_.size())};
      groups_.emplace_back(key, Group{});
    }
    return groups_[slot.group].second;
  }
  [[nodiscard]] auto begin() noexcept { return groups_.begin(); }
  [[nodiscard]] auto end() noexcept { return groups_.end(); }

 private:
  struct Slot {
    Key key{};
    std::uint32_t group = kNone;
  };
  static bool same(const Key& a, const Key& b) noexcept {
    std::uint32_t differences = 0;
    for (std::size_t i = 0; i < N; ++i) differences |= a[i] ^ b[i];
    return differences == 0;
  }
  // The one that holds the key, else the empty one that would. Requires: some are empty.
  Slot& slot_of(const Key& key) noexcept {
    const std::size_t mask = slots_.size() - 1;  // their number is a power of two
    std::size_t at = IdHash<N>()(key) & mask;
    while (slots_[at].group != kNone && !same(slots_[at].key, key)) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, 4 * slots_.size()), Slot());
    for (std::size_t i = 0; i < groups_.size(); ++i) slot_of(groups_[i].first) = {groups_[i].first, static_cast<std::uint32_t>(i)};
  }
  std::vector<Slot> slots_;
  std::deque<std::pair<Key, Group>> groups_;
};

// Samples by ids.
template <std::size_t N>
class SamplesByIds {
 public:
  void add(const std::array<std::uint32_t, N>& ids, std::int64_t sample) { samples_[ids].push_back(sample); }
  // Calls take(ids, Samples&&) for each.
  template <typename Take>
  void for_each(Take take) {
    for (auto& [ids, samples] : samples_) take(ids, std::move(samples));
  }

 private:
  GroupsByIds<N, Samples> samples_;
};

// Groups by what is shown: different ids may share their labels.
class LabelGroups {
 public:
  void add(std::vector<std::string> labels, Samples samples) { groups_[std::move(labels)].append(std::move(samples)); }
  [[nodiscard]] std::vector<LabeledSamples> take() {
    std::vector<LabeledSamples> groups;
    groups.reserve(groups_.size());
    while (!groups_.empty()) {
      auto node = groups_.extract(groups_.begin());
      groups.push_back({std::move(node.key()), std::move(node.mapped())});
    }
    return groups;
  }

 private:
  std::map<std::vector<std::string>, Samples> groups_;
};

}  // namespace lanescope::stats
