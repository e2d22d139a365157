// Collects samples under labels. Internal to reports.
#pragma once

#include <array>
#include <map>
#include <unordered_map>

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

// Groups by several ids, those in use at hand: events of a loop go round a few groups.
template <std::size_t N, typename Group>
class GroupsByIds {
 public:
  using Key = std::array<std::uint32_t, N>;
  GroupsByIds() = default;
  GroupsByIds(GroupsByIds&&) = default;
  Group& operator[](const Key& key) {
    Recent& recent = recent_[IdHash<N>()(key) % kRecent];
    if (!recent.group || key != recent.key) recent = {key, &groups_[key]};  // groups never move
    return *recent.group;
  }
  [[nodiscard]] auto begin() noexcept { return groups_.begin(); }
  [[nodiscard]] auto end() noexcept { return groups_.end(); }

 private:
  static constexpr std::size_t kRecent = 256;
  struct Recent {
    Key key{};
    Group* group = nullptr;
  };
  std::unordered_map<Key, Group, IdHash<N>> groups_;
  std::array<Recent, kRecent> recent_{};
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
  void add(std::vector<std::string> labels, Samples samples) {
    Samples& group = groups_[std::move(labels)];
    if (group.empty())
      group = std::move(samples);
    else
      group.insert(group.end(), samples.begin(), samples.end());
  }
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

// The texts of names in a table, each added once.
class NameTexts {
 public:
  NameTexts(Table& table, const Trace& trace) : table_(table), trace_(trace), ids_(trace.name_count(), kUnknown) {}
  TextId operator()(NameId name) {
    if (ids_[name] == kUnknown) ids_[name] = table_.add_text(std::string(trace_.name(name)));
    return ids_[name];
  }
  // Another text than the name itself: `text(name)` is asked once a name.
  template <typename Text>
  TextId operator()(NameId name, Text text) {
    if (ids_[name] == kUnknown) ids_[name] = table_.add_text(std::string(text(name)));
    return ids_[name];
  }

 private:
  static constexpr TextId kUnknown{kNone};
  Table& table_;
  const Trace& trace_;
  std::vector<TextId> ids_;
};

}  // namespace lanescope::stats
