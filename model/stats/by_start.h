// Events of many lanes in the order of their starts. Internal to reports and rules.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::stats {

// The selected events of these kinds, by start. Events that start together are in the order of kinds and tracks. O(n log lanes), O(n) while one lane
// runs ahead.
[[nodiscard]] std::vector<EventRef> events_by_start(const Selection& selection, std::initializer_list<TrackKind> kinds);

// Merges lists, each of which is sorted by `key`. For equal keys, earlier lists come first.
template <typename T, typename Key>
[[nodiscard]] std::vector<T> merge_sorted(std::vector<std::vector<T>> lists, Key key) {
  std::erase_if(lists, [](const auto& list) { return list.empty(); });
  if (lists.size() == 1) return std::move(lists.front());
  struct Head {
    Nanoseconds key;
    std::size_t list;
    bool operator>(const Head& other) const noexcept { return key != other.key ? key > other.key : list > other.list; }
  };
  std::vector<Head> heads;  // a heap with the first of all on top
  std::vector<std::size_t> positions(lists.size(), 0);
  std::size_t total = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    heads.push_back({key(lists[i].front()), i});
    total += lists[i].size();
  }
  const auto sink_first = [&] {
    for (std::size_t at = 0, child = 1; child < heads.size(); at = child, child = 2 * at + 1) {
      if (child + 1 < heads.size() && heads[child] > heads[child + 1]) ++child;
      if (!(heads[at] > heads[child])) return;
      std::swap(heads[at], heads[child]);
    }
  };
  std::make_heap(heads.begin(), heads.end(), std::greater<>());
  std::vector<T> merged;
  merged.reserve(total);
  while (!heads.empty()) {
    Head& head = heads.front();
    const std::vector<T>& list = lists[head.list];
    std::size_t& position = positions[head.list];
    const auto stays_first = [&] { return (heads.size() < 2 || heads[1] > head) && (heads.size() < 3 || heads[2] > head); };
    do {
      merged.push_back(list[position]);
      if (++position < list.size()) head.key = key(list[position]);
    } while (position < list.size() && stays_first());
    if (position == list.size()) {
      head = heads.back();
      heads.pop_back();
    }
    sink_first();
  }
  return merged;
}

}  // namespace lanescope::stats
