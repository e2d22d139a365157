#include "batch_columns.h"

#include <algorithm>
#include <limits>

#include "../tables/value_dictionary.h"

namespace lanescope::exporters {

std::size_t BatchColumn::nulls() const noexcept { return static_cast<std::size_t>(std::count(is_present.begin(), is_present.end(), 0)); }

void append_row(std::span<const Cell> row, std::vector<BatchColumn>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].values.push_back(row[i].value_or(0));
    columns[i].is_present.push_back(row[i] ? 1 : 0);
  }
}

std::optional<BatchTexts> texts_of(const BatchColumn& column, const TableDescription& table, std::size_t index) {
  const std::size_t rows = column.values.size();
  std::vector<std::int64_t> known;  // the cell of a null may have no text
  for (std::size_t i = 0; i < rows; ++i)
    if (column.is_present[i] != 0) known.push_back(column.values[i]);
  const ValueDictionary dictionary = *dictionary_of(known, rows);
  BatchTexts result;
  for (std::size_t i = 0, next = 0; i < rows; ++i)
    result.indices.push_back(column.is_present[i] != 0 ? static_cast<std::int32_t>(dictionary.indices[next++]) : 0);
  result.offsets.push_back(0);
  for (const std::int64_t cell : dictionary.values) {
    result.texts += table.text_of(index, cell);
    if (result.texts.size() > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    result.offsets.push_back(static_cast<std::int32_t>(result.texts.size()));
  }
  return result;
}

}  // namespace lanescope::exporters
