// Rows of a table until they are a batch of Arrow, by column. Internal to model/export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../tables/table_target.h"

namespace lanescope::exporters {

inline constexpr std::size_t kMostBatchRows = 1u << 16;  // readers that follow a stream get them soon

struct BatchColumn {
  std::vector<std::int64_t> values;      // 0 for nulls
  std::vector<std::uint8_t> is_present;  // 0 for a null, else 1

  [[nodiscard]] std::size_t nulls() const noexcept;
};

void append_row(std::span<const Cell> row, std::vector<BatchColumn>& columns);

// A column of texts, by its dictionary.
struct BatchTexts {
  std::vector<std::int32_t> indices;  // of each row; of a null that of some text, which nobody asks for
  std::vector<std::int32_t> offsets;  // of each text into `texts`, and the end of the last one
  std::string texts;
};
// None where the texts take more than 2 GiB. `index`: of the column in the table. O(n).
[[nodiscard]] std::optional<BatchTexts> texts_of(const BatchColumn& column, const TableDescription& table, std::size_t index);

}  // namespace lanescope::exporters
