#include "summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include "model/trace/parallel.h"

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

struct Row {
  Summary summary;
  std::vector<std::string> labels;
};

std::vector<Row> rows_of(std::vector<LabeledSamples> groups, const Percentiles& percentiles) {
  std::erase_if(groups, [](const LabeledSamples& group) { return group.samples.empty(); });
  std::vector<Row> rows(groups.size());
  // Most come in the order of their labels, of which millions take long to compare.
  const auto by_labels = [](const LabeledSamples& a, const LabeledSamples& b) { return a.labels < b.labels; };
  if (!std::is_sorted(groups.begin(), groups.end(), by_labels)) std::sort(groups.begin(), groups.end(), by_labels);
  parallel_for(groups.size(), [&](std::size_t i) {
    rows[i] = {summarize(groups[i].samples, percentiles), std::move(groups[i].labels)};
    groups[i].samples = {};
  });
  return rows;
}

// Which row comes when: of what is compared alone, and without a move of rows, which are large, and of which there may be millions.
std::vector<std::uint32_t> order_of(const std::vector<Row>& rows) {
  struct Compared {
    std::int64_t total, count;
    std::uint32_t place;
    bool operator<(const Compared& other) const { return std::tie(other.total, other.count, place) < std::tie(total, count, other.place); }
  };
  std::vector<Compared> compared;
  compared.reserve(rows.size());
  for (const Row& row : rows) compared.push_back({row.summary.total, row.summary.count, static_cast<std::uint32_t>(compared.size())});
  std::sort(compared.begin(), compared.end());
  std::vector<std::uint32_t> order;
  order.reserve(rows.size());
  for (const Compared& each : compared) order.push_back(each.place);
  return order;
}

}  // namespace

Table time_summary(std::string_view count_title, const std::vector<std::string>& label_titles, std::vector<LabeledSamples> groups,
                   const Percentiles& percentiles) {
  std::vector<Column> columns = {reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers(std::string(count_title))};
  append_summary_columns(columns, "", Unit::kNanoseconds, percentiles);
  for (const std::string& title : label_titles) columns.push_back(texts(title));
  Table table(std::move(columns));

  std::vector<Row> rows = rows_of(std::move(groups), percentiles);
  table.reserve(rows.size());
  std::int64_t everything = 0;
  for (const Row& row : rows) everything += row.summary.total;
  std::vector<Cell> cells;
  std::vector<std::pair<std::string, TextId>> last(label_titles.size());  // of each label: millions of rows may share their style
  for (const std::uint32_t place : order_of(rows)) {
    Row& row = rows[place];
    const Summary& s = row.summary;
    cells = {everything > 0 ? 100.0 * static_cast<double>(s.total) / static_cast<double>(everything) : 0.0, s.total, s.count};
    append_summary_cells(cells, s, percentiles);
    for (std::size_t i = 0; i < row.labels.size(); ++i) {
      if (row.labels[i] != last[i].first || table.empty()) last[i] = {row.labels[i], table.add_text(row.labels[i])};
      cells.emplace_back(last[i].second);
    }
    row.labels = {};  // now: there may be millions
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
