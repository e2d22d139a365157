// Collects samples under labels. Internal to reports.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "model/stats/selection.h"
#include "summary.h"

namespace lanescope::stats {

// Samples by name: two array accesses each. A trace may have millions of names, of which few have samples: without any it takes no memory,
// else four bytes a name.
class SamplesByName {
 public:
  explicit SamplesByName(const Trace& trace) : trace_(trace) {}
  void add(NameId name, std::int64_t sample) {
    if (places_.empty()) places_.assign(trace_.name_count(), kNone);
    std::uint32_t& place = places_[name];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(samples_.size());
      samples_.emplace_back();
    }
    samples_[place].push_back(sample);
  }
  // Calls take(NameId, Samples&&) for each name that has samples.
  template <typename Take>
  void for_each(Take take) {
    for (NameId name = 0; name < places_.size(); ++name)
      if (places_[name] != kNone) take(name, std::move(samples_[places_[name]]));
  }

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> places_;  // in samples_, by name
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
  // Calls take(key, Group&&) for each, and gives back what it had of it before the next. None is left.
  template <typename Take>
  void drain(Take take) {
    slots_ = {};
    for (; !groups_.empty(); groups_.pop_front()) take(groups_.front().first, std::move(groups_.front().second));
  }

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
  // Calls take(ids, Samples&&) for each. None is left.
  template <typename Take>
  void for_each(Take take) {
    samples_.drain(take);
  }

 private:
  GroupsByIds<N, Samples> samples_;
};

// Groups by what is shown: different ids may share their labels.
class LabelGroups {
 public:
  void add(std::vector<std::string> labels, Samples samples) {
    groups_.push_back({std::move(labels), std::move(samples)});
    order_.push_back(static_cast<std::uint32_t>(order_.size()));
  }
  // By labels, each once. O(n log n): there may be millions, nearly all of which differ.
  [[nodiscard]] std::vector<LabeledSamples> take() {
    // As they were added, where labels are equal: sums are rounded in the order of their samples.
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      const int compared = compare(groups_[a].labels, groups_[b].labels);
      return compared != 0 ? compared < 0 : a < b;
    });
    std::vector<LabeledSamples> groups;
    groups.reserve(groups_.size());
    for (const std::uint32_t index : order_) {
      LabeledSamples& group = groups_[index];
      if (groups.empty() || groups.back().labels != group.labels)
        groups.push_back(std::move(group));
      else
        groups.back().samples.append(std::move(group.samples));
    }
    groups_ = {};
    order_ = {};
    return groups;
  }

 private:
  static int compare(const std::vector<std::string>& a, const std::vector<std::string>& b) noexcept {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (const int compared = a[i].compare(b[i]); compared != 0) return compared;
    return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  }

  std::vector<LabeledSamples> groups_;
  std::vector<std::uint32_t> order_;  // of these
};

}  // namespace lanescope::stats
