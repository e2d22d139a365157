// The arithmetic that all summaries share. Internal to reports and rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/events/samples.h"
#include "model/stats/table.h"

namespace lanescope::stats {

using Percentiles = std::vector<std::uint8_t>;  // 95: the 95th; 1 to 99

struct Summary {
  std::int64_t count = 0;
  std::int64_t total = 0;
  double average = 0;
  double median = 0;  // for an even number of samples the mean of the two middle ones
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  double deviation = 0;             // of the sample (n - 1); 0 for one sample
  std::vector<double> percentiles;  // as asked, by linear interpolation between two samples (Samples::percentile); the 50th is the median
};

// Changes the order of the samples. O(n). For no samples, the count is 0.
[[nodiscard]] Summary summarize(Samples& samples, const Percentiles& percentiles = {});

// The columns Avg, Med, Min, Max, StdDev, and one for each percentile (P95), with `prefix` in front of their titles; and their cells, which are absent
// if there are no samples, except StdDev.
void append_summary_columns(std::vector<Column>& columns, std::string_view prefix, Unit unit, const Percentiles& percentiles);
void append_summary_cells(std::vector<Cell>& cells, const Summary& summary, const Percentiles& percentiles);

}  // namespace lanescope::stats
