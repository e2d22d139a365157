// Collects samples under labels. Internal to reports.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/stats/selection.h"
#include "summary.h"

namespace lanescope::stats {

// Samples by name: two array accesses each. A trace may have millions of names, of which few have samples: it takes no memory while there are no
// samples, then four bytes a name.
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

// Groups by several ids, in the order in which they were first asked for. It is a hash table with open addressing, whose slots exclude most other keys,
// so that nearly every look-up reads one slot and its group.
template <std::size_t N, typename Group>
class GroupsByIds {
 public:
  using Key = std::array<std::uint32_t, N>;
  Group& operator[](const Key& key) {
    if (2 * groups_.size() >= slots_.size()) grow();
    const std::uint64_t hash = IdHash<N>()(key);
    std::size_t at = hash & (slots_.size() - 1);  // the number of slots is a power of two
    for (; slots_[at].group != kNone; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].tag == tag_of(hash) && same(groups_[slots_[at].group].first, key)) return groups_[slots_[at].group].second;
    slots_[at] = {tag_of(hash), static_cast<std::uint32_t>(groups_.size())};
    return groups_.emplace_back(key, Group{}).second;
  }
  [[nodiscard]] auto begin() noexcept { return groups_.begin(); }
  [[nodiscard]] auto end() noexcept { return groups_.end(); }
  // Calls take(key, Group&&) for each group, and frees its memory before the next. No group is left.
  template <typename Take>
  void drain(Take take) {
    slots_ = {};
    for (; !groups_.empty(); groups_.pop_front()) take(groups_.front().first, std::move(groups_.front().second));
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;  // the bits of the hash that do not determine the slot
    std::uint32_t group = kNone;
  };
  static bool same(const Key& a, const Key& b) noexcept {
    std::uint32_t differences = 0;
    for (std::size_t i = 0; i < N; ++i) differences |= a[i] ^ b[i];
    return differences == 0;
  }
  static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32); }
  void grow() {
    slots_ = std::vector<Slot>(std::max<std::size_t>(64, 2 * slots_.size()));
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const std::uint64_t hash = IdHash<N>()(groups_[i].first);
      std::size_t at = hash & (slots_.size() - 1);
      while (slots_[at].group != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {tag_of(hash), static_cast<std::uint32_t>(i)};
    }
  }
  std::vector<Slot> slots_;
  std::deque<std::pair<Key, Group>> groups_;
};

// Samples by ids.
template <std::size_t N>
class SamplesByIds {
 public:
  void add(const std::array<std::uint32_t, N>& ids, std::int64_t sample) { samples_[ids].push_back(sample); }
  // Calls take(ids, Samples&&) for each. No group is left.
  template <typename Take>
  void for_each(Take take) {
    samples_.drain(take);
  }

 private:
  GroupsByIds<N, Samples> samples_;
};

// Groups by shown labels: different ids may share their labels. There may be millions of groups, nearly all different: a group takes 24 bytes, four for
// each of its labels, and the bytes of its texts.
class LabelGroups {
 public:
  // Requires: the same number of labels each time.
  void add(std::span<const std::string_view> labels, Samples samples);
  void add(std::initializer_list<std::string_view> labels, Samples samples) { add(std::span(labels.begin(), labels.size()), std::move(samples)); }
  // The same, with one more label after the others.
  void add(std::span<const std::string_view> labels, std::string_view last, Samples samples);

  // The columns with which nearly all summaries start (share, total, count, average, median, minimum, maximum, deviation; in ns) and the percentiles,
  // followed by the labels: one row for all groups with the same labels. Sorted by total, then count, descending, then by labels. Groups without
  // samples are left out. O(n log n) and O(bytes of labels). No group is left.
  [[nodiscard]] Table time_summary(std::string_view count_title, const std::vector<std::string>& label_titles, const Percentiles& percentiles);

 private:
  struct Place;
  struct Sum;
  [[nodiscard]] std::string_view label(std::size_t group, std::size_t number) const { return texts_[labels_[group * labels_of_group_ + number]]; }
  [[nodiscard]] bool same(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<Place> in_order() const;
  [[nodiscard]] std::vector<Sum> sums();
  void add_label(std::size_t number, std::string_view text);

  TableTexts texts_;
  std::deque<Samples> samples_;  // of each group
  std::deque<TextId> labels_;    // of each group, one group after the other
  std::size_t labels_of_group_ = 0;
};

}  // namespace lanescope::stats
