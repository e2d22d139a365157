// Collects rows of a table by column until they are an Arrow batch. Internal to model/export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../tables/table_target.h"

namespace lanescope::exporters {

inline constexpr std::size_t kMostBatchRows = 1u << 16;  // small, so that readers of a stream receive batches early

struct BatchColumn {
  std::vector<std::int64_t> values;      // 0 for nulls
  std::vector<std::uint8_t> is_present;  // 0 for a null, else 1

  [[nodiscard]] std::size_t nulls() const noexcept;
};

void append_row(std::span<const Cell> row, std::vector<BatchColumn>& columns);

// A column of texts with its dictionary.
struct BatchTexts {
  std::vector<std::int32_t> indices;  // for each row; for a null, the index of any text, which is not read
  std::vector<std::int32_t> offsets;  // of each text in `texts`, and the end of the last one
  std::string texts;
};
// Nothing if the texts take more than 2 GiB. `index` is the column's number in the table. O(n).
[[nodiscard]] std::optional<BatchTexts> texts_of(const BatchColumn& column, const TableDescription& table, std::size_t index);

}  // namespace lanescope::exporters
