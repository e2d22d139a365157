// Sorts data that is mostly in order. Internal to reports.
#pragma once

#include <algorithm>
#include <vector>

namespace lanescope::stats {

// Stable. O(n log runs), where a run is a stretch that is in order already: each lane is one run.
template <typename T, typename Less>
void natural_sort(std::vector<T>& values, Less less) {
  std::vector<std::size_t> runs{0};  // start of each run, and the end
  for (std::size_t i = 1; i < values.size(); ++i)
    if (less(values[i], values[i - 1])) runs.push_back(i);
  runs.push_back(values.size());
  const auto at = [&](std::size_t position) { return values.begin() + static_cast<std::ptrdiff_t>(position); };
  while (runs.size() > 2) {
    std::vector<std::size_t> merged{0};
    for (std::size_t i = 0; i + 2 < runs.size(); i += 2) {
      std::inplace_merge(at(runs[i]), at(runs[i + 1]), at(runs[i + 2]), less);
      merged.push_back(runs[i + 2]);
    }
    if (merged.back() != values.size()) merged.push_back(values.size());
    runs = std::move(merged);
  }
}

}  // namespace lanescope::stats
