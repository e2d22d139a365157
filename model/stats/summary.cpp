#include "summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lanescope::stats {

Summary summarize(Samples& samples) {
  Summary summary;
  summary.count = static_cast<std::int64_t>(samples.size());
  summary.total = std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  summary.average = static_cast<double>(summary.total) / static_cast<double>(summary.count);
  const auto [minimum, maximum] = std::minmax_element(samples.begin(), samples.end());
  summary.minimum = *minimum;
  summary.maximum = *maximum;

  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  summary.median = static_cast<double>(*middle);
  if (samples.size() % 2 == 0) summary.median = (summary.median + static_cast<double>(*std::max_element(samples.begin(), middle))) / 2;

  if (samples.size() > 1) {
    double squares = 0;
    for (const std::int64_t sample : samples) {
      const double difference = static_cast<double>(sample) - summary.average;
      squares += difference * difference;
    }
    summary.deviation = std::sqrt(squares / static_cast<double>(summary.count - 1));
  }
  return summary;
}

namespace {

struct Row {
  Summary summary;
  std::vector<std::string> labels;
};

std::vector<Row> sorted_rows(std::vector<LabeledSamples> groups) {
  std::vector<Row> rows;
  rows.reserve(groups.size());
  for (LabeledSamples& group : groups)
    if (!group.samples.empty()) rows.push_back({summarize(group.samples), std::move(group.labels)});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.summary.total != b.summary.total) return a.summary.total > b.summary.total;
    if (a.summary.count != b.summary.count) return a.summary.count > b.summary.count;
    return a.labels < b.labels;
  });
  return rows;
}

}  // namespace

Table time_summary(std::string_view count_title, const std::vector<std::string>& label_titles, std::vector<LabeledSamples> groups) {
  std::vector<Column> columns = {reals("Time", Unit::kPercent),       integers("Total Time", Unit::kNanoseconds),
                                 integers(std::string(count_title)),  reals("Avg", Unit::kNanoseconds),
                                 reals("Med", Unit::kNanoseconds),    integers("Min", Unit::kNanoseconds),
                                 integers("Max", Unit::kNanoseconds), reals("StdDev", Unit::kNanoseconds)};
  for (const std::string& title : label_titles) columns.push_back(texts(title));
  Table table(std::move(columns));

  std::vector<Row> rows = sorted_rows(std::move(groups));
  std::int64_t everything = 0;
  for (const Row& row : rows) everything += row.summary.total;
  for (Row& row : rows) {
    const Summary& s = row.summary;
    const double share = everything > 0 ? 100.0 * static_cast<double>(s.total) / static_cast<double>(everything) : 0.0;
    std::vector<TextId> labels;
    for (std::string& label : row.labels) labels.push_back(table.add_text(std::move(label)));
    table.add_row_ending(labels, share, s.total, s.count, s.average, s.median, s.minimum, s.maximum, s.deviation);
  }
  return table;
}

}  // namespace lanescope::stats
