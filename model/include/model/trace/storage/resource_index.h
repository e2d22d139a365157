// Finds streams, domains, devices and the like in a trace by their ids, and tracks by their process. Internal to Trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "model/trace/types.h"

namespace lanescope {

// Positions of rows by a key; rows with the same key are in the order of their positions.
template <typename Key>
class KeyIndex {
 public:
  KeyIndex() = default;
  template <typename Rows, typename KeyOf>
  KeyIndex(const Rows& rows, KeyOf key_of) {
    entries_.reserve(rows.size());
    for (std::uint32_t row = 0; row < rows.size(); ++row) entries_.emplace_back(key_of(rows[row]), row);
    std::sort(entries_.begin(), entries_.end());
  }
  using Entry = std::pair<Key, std::uint32_t>;
  // Rows with keys from `first` to `last`.
  [[nodiscard]] std::vector<std::uint32_t> rows(const Key& first, const Key& last) const {
    std::vector<std::uint32_t> found;
    for (auto at = std::lower_bound(entries_.begin(), entries_.end(), Entry{first, 0}); at != entries_.end() && at->first <= last; ++at)
      found.push_back(at->second);
    return found;
  }
  // The first row with this key; kNone if there is none.
  [[nodiscard]] std::uint32_t first(const Key& key) const noexcept {
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), Entry{key, 0});
    return found == entries_.end() || found->first != key ? kNone : found->second;
  }

 private:
  std::vector<Entry> entries_;
};

struct ResourceIndex {
  KeyIndex<std::tuple<ProcessId, std::uint32_t, std::uint32_t>> streams;     // process, context, stream
  KeyIndex<std::tuple<ProcessId, std::uint32_t, std::uint32_t>> cuda_names;  // process, kind of resource, id
  KeyIndex<std::tuple<ProcessId, std::uint32_t>> domains;                    // process, domain
  KeyIndex<std::tuple<ProcessId, std::uint32_t, std::uint32_t>> categories;  // process, domain, category
  KeyIndex<std::tuple<GpuId, ProcessId>> devices;                            // GPU, process
  std::vector<TrackId> tracks;                                               // by process, kind, position
};

}  // namespace lanescope
