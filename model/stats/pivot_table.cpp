#include "model/stats/pivot_table.h"

#include <algorithm>
#include <charconv>

namespace lanescope::stats {
namespace {

Column column_of(PivotColumn by) {
  const std::string title(pivot_column_title(by));
  switch (by) {
    case PivotColumn::kKind:
      return words(title);
    case PivotColumn::kContext:
    case PivotColumn::kRegisters:
      return identifiers(title);
    case PivotColumn::kBytes:
    case PivotColumn::kSharedMemory:
      return integers(title, Unit::kBytes);
    case PivotColumn::kOccupancy:
      return reals("Occupancy", Unit::kPercent);
    case PivotColumn::kWaves:
      return reals(title, Unit::kNumber);
    default:
      return texts(title);
  }
}

template <typename Number>
Number number_of(const std::string& text, Number missing) {
  Number number = missing;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Cell cell_of(Table& table, const Column& column, const std::string& text) {
  if (column.has_texts()) return table.add_text(text);
  if (column.has_reals()) return number_of(text, kNoReal);
  return number_of(text, kNoInteger);
}

}  // namespace

Table pivot_table(std::span<const PivotColumn> columns, std::span<const PivotGroup> groups, ValuesAt place) {
  std::vector<Column> all = {reals("Time", Unit::kPercent),    integers("Total Time", Unit::kNanoseconds), integers("Instances"),
                             reals("Avg", Unit::kNanoseconds), integers("Min", Unit::kNanoseconds),        integers("Max", Unit::kNanoseconds)};
  std::vector<Column> by;
  for (const PivotColumn column : columns) by.push_back(column_of(column));
  all.insert(place == ValuesAt::kFront ? all.begin() : all.end(), by.begin(), by.end());
  Table table(std::move(all));
  double everything = 0;
  for (const PivotGroup& group : groups) everything += static_cast<double>(group.total);
  for (const PivotGroup& group : groups) {
    // A sum that is too long stays at the longest, which may be less than the shortest event times their number.
    std::vector<Cell> cells = {
        everything > 0 ? 100.0 * static_cast<double>(group.total) / everything : 0.0,
        group.total,
        static_cast<std::int64_t>(group.count),
        std::clamp(static_cast<double>(group.total) / static_cast<double>(group.count), static_cast<double>(group.minimum), static_cast<double>(group.maximum)),
        group.minimum,
        group.maximum};
    std::vector<Cell> values;
    for (std::size_t i = 0; i < by.size(); ++i) values.push_back(cell_of(table, by[i], group.values[i]));
    cells.insert(place == ValuesAt::kFront ? cells.begin() : cells.end(), values.begin(), values.end());
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
