#include "summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include "model/trace/work/parallel.h"

namespace lanescope::stats {
namespace {

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
  for_each(samples, [&](std::int64_t sample, std::int64_t count) {  // one pass: millions of samples do not stay in the cache
    summary.count += count;
    summary.total += sample * count;
    summary.minimum = std::min(summary.minimum, sample);
    summary.maximum = std::max(summary.maximum, sample);
  });
  const auto size = static_cast<std::uint64_t>(summary.count);
  summary.average = static_cast<double>(summary.total) / static_cast<double>(summary.count);
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
  for (const std::uint8_t percentile : percentiles) {
    const std::uint64_t rank = (static_cast<std::uint64_t>(summary.count) * percentile + 99) / 100;  // from 1, rounded up
    summary.percentiles.push_back(samples.nth(std::max<std::uint64_t>(rank, 1) - 1));
  }
  return summary;
}

void append_summary_columns(std::vector<Column>& columns, std::string_view prefix, Unit unit, const Percentiles& percentiles) {
  const auto title = [&](std::string_view text) { return std::string(prefix).append(text); };
  columns.push_back(reals(title("Avg"), unit));
  columns.push_back(reals(title("Med"), unit));
  columns.push_back(integers(title("Min"), unit));
  columns.push_back(integers(title("Max"), unit));
  columns.push_back(reals(title("StdDev"), unit));
  for (const std::uint8_t percentile : percentiles) columns.push_back(integers(title("P" + std::to_string(percentile)), unit));
}

void append_summary_cells(std::vector<Cell>& cells, const Summary& summary, const Percentiles& percentiles) {
  const bool known = summary.count > 0;
  cells.insert(cells.end(), {known ? summary.average : kNoReal, known ? summary.median : kNoReal, known ? summary.minimum : kNoInteger,
                             known ? summary.maximum : kNoInteger, summary.deviation});
  for (std::size_t i = 0; i < percentiles.size(); ++i) cells.emplace_back(known ? summary.percentiles[i] : kNoInteger);
}

namespace {

// In the order of their labels. Most come so, and millions take long to compare.
void put_in_order(std::vector<LabeledSamples>& groups) {
  std::erase_if(groups, [](const LabeledSamples& group) { return group.samples.empty(); });
  const auto by_labels = [](const LabeledSamples& a, const LabeledSamples& b) { return a.labels < b.labels; };
  if (!std::is_sorted(groups.begin(), groups.end(), by_labels)) std::sort(groups.begin(), groups.end(), by_labels);
}

// What rows are sorted by, and no more: of millions, what else a summary has would take the memory twice.
struct Sum {
  std::int64_t total = 0, count = 0;
  std::uint32_t group = 0;
};

std::vector<Sum> sums_of(std::vector<LabeledSamples>& groups) {
  std::vector<Sum> sums;
  sums.reserve(groups.size());
  for (LabeledSamples& group : groups) {
    Sum& sum = sums.emplace_back(Sum{.group = static_cast<std::uint32_t>(sums.size())});
    const auto add = [&](std::int64_t sample, std::int64_t count) {
      sum.total += sample * count;
      sum.count += count;
    };
    const auto [plain, counted] = group.samples.all();
    for_each(plain, add);
    for_each(counted, add);
  }
  return sums;
}

constexpr std::size_t kRowsAtOnce = 65'536;  // that are summed up on all cores
constexpr std::size_t kParts = 1'024;        // of these: the first ones, which are of the most samples, are of different parts

}  // namespace

Table time_summary(std::string_view count_title, const std::vector<std::string>& label_titles, std::vector<LabeledSamples> groups,
                   const Percentiles& percentiles) {
  std::vector<Column> columns = {reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers(std::string(count_title))};
  append_summary_columns(columns, "", Unit::kNanoseconds, percentiles);
  for (const std::string& title : label_titles) columns.push_back(texts(title));
  Table table(std::move(columns));

  put_in_order(groups);
  std::vector<Sum> rows = sums_of(groups);
  table.reserve(rows.size());
  std::int64_t everything = 0;
  for (const Sum& row : rows) everything += row.total;
  std::stable_sort(rows.begin(), rows.end(), [](const Sum& a, const Sum& b) { return std::tie(a.total, a.count) > std::tie(b.total, b.count); });
  std::vector<Cell> cells;
  std::vector<std::pair<std::string, TextId>> last(label_titles.size());  // of each label: millions of rows may share their style
  std::vector<Summary> summaries;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row % kRowsAtOnce == 0) {
      summaries.resize(std::min(kRowsAtOnce, rows.size() - row));
      parallel_for(std::min(kParts, summaries.size()), [&](std::size_t part) {
        for (std::size_t i = part; i < summaries.size(); i += kParts) summaries[i] = summarize(groups[rows[row + i].group].samples, percentiles);
      });
    }
    LabeledSamples& group = groups[rows[row].group];
    const Summary& s = summaries[row % kRowsAtOnce];
    cells = {everything > 0 ? 100.0 * static_cast<double>(s.total) / static_cast<double>(everything) : 0.0, s.total, s.count};
    append_summary_cells(cells, s, percentiles);
    for (std::size_t i = 0; i < group.labels.size(); ++i) {
      if (group.labels[i] != last[i].first || table.empty()) {
        last[i].first = group.labels[i];
        last[i].second = table.add_text(std::move(group.labels[i]));
      }
      cells.emplace_back(last[i].second);
    }
    group = {};  // now: there may be millions
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
