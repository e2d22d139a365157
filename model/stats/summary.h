// The arithmetic that all summaries share. Internal to reports and rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/stats/table.h"

namespace lanescope::stats {

using Samples = std::vector<std::int64_t>;

struct Summary {
  std::int64_t count = 0;
  std::int64_t total = 0;
  double average = 0;
  double median = 0;  // the mean of the two middle samples where their number is even
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  double deviation = 0;  // of the sample (n - 1); 0 for one
};

// Changes the order of the samples. O(n). Requires: not empty.
[[nodiscard]] Summary summarize(Samples& samples);

// Samples that share their labels: one row of a summary.
struct LabeledSamples {
  std::vector<std::string> labels;
  Samples samples;
};

// The block that nearly all summaries begin with (share, total, count, average, median, minimum, maximum, deviation; in ns), followed by
// the labels. Sorted by total, then count, descending, then by labels. Groups without samples are left out.
[[nodiscard]] Table time_summary(std::string_view count_title, const std::vector<std::string>& label_titles,
                                 std::vector<LabeledSamples> groups);

}  // namespace lanescope::stats
