// Where rows lie: which rows of the tree are shown, from top to bottom. Pixels are logical. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "timeline/core/row_tree.h"

namespace lanescope::timeline {

// What the user chose to expand or collapse, by row key. Rows without an entry are as Row::expanded_initially says.
using ExpandedRows = std::unordered_map<std::string, bool>;
[[nodiscard]] bool is_expanded(const Row& row, const ExpandedRows& expanded);

struct RowMetrics {
  std::int32_t level_height = 18;    // of a row with one level
  std::int32_t stacked_height = 16;  // of each level of a row with several
  std::int32_t group_height = 22;    // of a row that only groups others
  std::int32_t gap = 1;              // below each row, for the separator
};

struct PlacedRow {
  RowIndex row = 0;
  std::int32_t top = 0;
  std::int32_t height = 0;  // with the gap
  std::int32_t level_height = 0;
  std::span<const Level> levels;  // of the tree; one where the row is collapsed
};

class RowLayout {
 public:
  RowLayout() = default;
  // Keeps references into `tree`. `filter`: rows whose title contains it (without regard to case), with all above and below them; "" for
  // all.
  RowLayout(const RowTree& tree, const ExpandedRows& expanded, const RowMetrics& metrics, std::string_view filter);

  [[nodiscard]] const std::vector<PlacedRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::int32_t height() const noexcept { return height_; }
  // The row at y, from the top of all rows. O(log rows).
  [[nodiscard]] const PlacedRow* row_at(std::int32_t y) const noexcept;
  // The level of a row at y; none on the gap and on rows that only group.
  [[nodiscard]] static std::optional<std::uint32_t> level_at(const PlacedRow& row, std::int32_t y) noexcept;
  // The row as it is shown, or else the nearest row above it in the tree that is. O(depth).
  [[nodiscard]] const PlacedRow* nearest_shown(RowIndex row) const noexcept;

 private:
  const RowTree* tree_ = nullptr;
  std::vector<PlacedRow> rows_;
  std::vector<std::int32_t> position_;  // in rows_ of each row of the tree; -1: not shown
  std::int32_t height_ = 0;
};

}  // namespace lanescope::timeline
