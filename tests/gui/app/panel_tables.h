// What tables of panels say, and what they have to say of the known trace.
#pragma once

#include <cstdint>
#include <numeric>
#include <variant>

#include <QTableView>

#include "known_trace.h"
#include "tables/result_table.h"

namespace lanescope::test {

inline constexpr std::int64_t kIdle = std::accumulate(kGaps.begin(), kGaps.end(), std::int64_t{0});
inline constexpr std::int64_t kLongestGapEnd = kFirstKernel + 3 * kKernelDuration + kGaps[0] + kGaps[1] + kGaps[2];

inline int column_of(const QTableView& table, const QString& title) {
  for (int i = 0; i < table.model()->columnCount(); ++i)
    if (table.model()->headerData(i, Qt::Horizontal, Qt::DisplayRole) == title) return i;
  return -1;
}

inline QString cell(const QTableView& table, int row, const QString& title) { return table.model()->index(row, column_of(table, title)).data().toString(); }

inline std::int64_t column_sum(const ui::ResultTable& table, std::size_t column) {
  const auto& values = std::get<stats::Integers>(table.results().table()->columns()[column].values);
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace lanescope::test
