#include "timeline/core/row_layout.h"

#include <algorithm>
#include <cctype>

namespace lanescope::timeline {
namespace {

bool contains_without_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// Which rows the filter leaves: those that match, what is below them, and what leads to them.
std::vector<bool> passing(const RowTree& tree, std::string_view filter) {
  const std::vector<Row>& rows = tree.rows();
  std::vector<bool> below(rows.size());
  std::vector<bool> passes(rows.size());
  for (std::size_t index = 0; index < rows.size(); ++index) {  // parents come first
    const Row& row = rows[index];
    below[index] = (row.parent && below[*row.parent]) || contains_without_case(row_title(row), filter);
    passes[index] = below[index];
  }
  for (std::size_t index = rows.size(); index-- > 0;)
    if (passes[index] && rows[index].parent) passes[*rows[index].parent] = true;
  return passes;
}

}  // namespace

bool is_expanded(const Row& row, const ExpandedRows& expanded) {
  const auto found = expanded.find(row.key);
  return found != expanded.end() ? found->second : row.expanded_initially;
}

RowLayout::RowLayout(const RowTree& tree, const ExpandedRows& expanded, const RowMetrics& metrics, std::string_view filter)
    : tree_(&tree), position_(tree.rows().size(), -1) {
  const std::vector<bool> passes = passing(tree, filter);
  std::vector<bool> open(tree.rows().size());
  for (RowIndex index = 0; index < tree.rows().size(); ++index) {
    const Row& row = tree.row(index);
    open[index] = is_expanded(row, expanded);
    if (row.parent && !open[*row.parent]) open[index] = false;
    const bool hidden = row.parent && !open[*row.parent];
    if (hidden || !passes[index]) continue;
    PlacedRow placed{.row = index, .top = height_, .height = metrics.group_height, .level_height = metrics.level_height, .levels = {}};
    if (open[index] || !row.expandable())
      placed.levels = row.levels;
    else if (!row.all.empty())
      placed.levels = std::span<const Level>(&row.all, 1);
    if (placed.levels.size() > 1) placed.level_height = metrics.stacked_height;
    if (!placed.levels.empty()) placed.height = placed.level_height * static_cast<std::int32_t>(placed.levels.size());
    placed.height += metrics.gap;
    position_[index] = static_cast<std::int32_t>(rows_.size());
    rows_.push_back(placed);
    height_ += placed.height;
  }
}

const PlacedRow* RowLayout::row_at(std::int32_t y) const noexcept {
  if (y < 0 || y >= height_) return nullptr;
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), y, [](std::int32_t value, const PlacedRow& row) { return value < row.top; });
  return &*(after - 1);
}

std::optional<std::uint32_t> RowLayout::level_at(const PlacedRow& row, std::int32_t y) noexcept {
  if (row.levels.empty() || y < row.top) return std::nullopt;
  const auto level = static_cast<std::uint32_t>((y - row.top) / row.level_height);
  if (level >= row.levels.size()) return std::nullopt;
  return level;
}

const PlacedRow* RowLayout::nearest_shown(RowIndex row) const noexcept {
  for (std::optional<RowIndex> index = row; index; index = tree_->row(*index).parent)
    if (position_[*index] >= 0) return &rows_[static_cast<std::size_t>(position_[*index])];
  return nullptr;
}

}  // namespace lanescope::timeline
