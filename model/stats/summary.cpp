#include "summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lanescope::stats {
namespace {

__extension__ using Wide = __int128;
using Plain = std::span<std::int64_t>;
using Counted = std::span<const Samples::Counted>;

template <typename Visit>
void for_each(Plain samples, Visit visit) {
  for (const std::int64_t sample : samples) visit(sample, 1);
}
template <typename Visit>
void for_each(Counted samples, Visit visit) {
  for (const auto& [sample, count] : samples) visit(sample, static_cast<std::int64_t>(count));
}

template <typename All>
Summary summary_of(All samples) {
  Summary summary;
  summary.minimum = std::numeric_limits<std::int64_t>::max();
  summary.maximum = std::numeric_limits<std::int64_t>::min();
  Wide total = 0;
  for_each(samples, [&](std::int64_t sample, std::int64_t count) {  // one pass, because millions of samples do not stay in the cache
    summary.count += count;
    total += static_cast<Wide>(sample) * count;
    summary.minimum = std::min(summary.minimum, sample);
    summary.maximum = std::max(summary.maximum, sample);
  });
  const auto size = static_cast<std::uint64_t>(summary.count);
  summary.total = static_cast<std::int64_t>(
      std::clamp<Wide>(total, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));  // files may say that events take centuries
  summary.average = static_cast<double>(total) / static_cast<double>(summary.count);
  double squares = 0;
  for_each(samples, [&](std::int64_t sample, std::int64_t count) {
    const double difference = static_cast<double>(sample) - summary.average;
    squares += difference * difference * static_cast<double>(count);
  });
  if (size >= 2) summary.deviation = std::sqrt(squares / static_cast<double>(size - 1));
  return summary;
}

}  // namespace

Summary summarize(Samples& samples, const Percentiles& percentiles) {
  if (samples.empty()) return {};
  const double median = samples.median();
  const auto [plain, counted] = samples.all();
  Summary summary = counted.empty() ? summary_of(plain) : summary_of(counted);
  summary.median = median;
  for (const std::uint8_t percentile : percentiles) summary.percentiles.push_back(samples.percentile(percentile));
  return summary;
}

void append_summary_columns(std::vector<Column>& columns, std::string_view prefix, Unit unit, const Percentiles& percentiles) {
  const auto title = [&](std::string_view text) { return std::string(prefix).append(text); };
  columns.push_back(reals(title("Avg"), unit));
  columns.push_back(reals(title("Med"), unit));
  columns.push_back(integers(title("Min"), unit));
  columns.push_back(integers(title("Max"), unit));
  columns.push_back(reals(title("StdDev"), unit));
  for (const std::uint8_t percentile : percentiles) columns.push_back(reals(title("P" + std::to_string(percentile)), unit));
}

void append_summary_cells(std::vector<Cell>& cells, const Summary& summary, const Percentiles& percentiles) {
  const bool known = summary.count > 0;
  cells.insert(cells.end(), {known ? summary.average : kNoReal, known ? summary.median : kNoReal, known ? summary.minimum : kNoInteger,
                             known ? summary.maximum : kNoInteger, summary.deviation});
  for (std::size_t i = 0; i < percentiles.size(); ++i) cells.emplace_back(known ? summary.percentiles[i] : kNoReal);
}

}  // namespace lanescope::stats
