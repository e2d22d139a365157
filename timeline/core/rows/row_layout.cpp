#include "timeline/core/rows/row_layout.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "model/trace/combining/parts.h"
#include "timeline/core/rows/row_pairs.h"

namespace lanescope::timeline {
namespace {

bool contains_without_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// The rows that pass the filter: matching rows, rows below them, and rows above them.
std::vector<bool> passing(const RowTree& tree, std::string_view filter) {
  const std::vector<Row>& rows = tree.rows();
  std::vector<bool> below(rows.size());
  std::vector<bool> passes(rows.size());
  for (std::size_t index = 0; index < rows.size(); ++index) {  // parents come first
    const Row& row = rows[index];
    below[index] = (row.parent && below[*row.parent]) || contains_without_case(row_title(row).in(shown_language()), filter);
    passes[index] = below[index];
  }
  for (std::size_t index = rows.size(); index-- > 0;)
    if (passes[index] && rows[index].parent) passes[*rows[index].parent] = true;
  return passes;
}

RowState state_of(const Row& row, const ExpandedRows& expanded) { return is_expanded(row, expanded) ? RowState::kExpanded : RowState::kCollapsed; }

}  // namespace

std::vector<RowIndex> closed_above_matches(const RowTree& tree, const ExpandedRows& expanded, std::string_view filter) {
  if (filter.empty()) return {};
  const std::vector<Row>& rows = tree.rows();
  const auto matches = [&](RowIndex row) { return contains_without_case(row_title(rows[row]).in(shown_language()), filter); };
  std::vector<bool> below(rows.size()), leads(rows.size());
  for (RowIndex index = 0; index < rows.size(); ++index) {  // parents come first
    const std::optional<RowIndex> parent = rows[index].parent;
    const bool is_below = parent && below[*parent];
    below[index] = is_below || matches(index);
    for (std::optional<RowIndex> above = below[index] && !is_below ? parent : std::nullopt; above && !leads[*above]; above = rows[*above].parent)
      leads[*above] = true;
  }
  std::vector<RowIndex> closed;
  for (RowIndex index = 0; index < rows.size(); ++index)
    if (leads[index] && state_of(rows[index], expanded) == RowState::kCollapsed) closed.push_back(index);
  return closed;
}

std::string placed_title(const RowTree& tree, const PlacedRow& placed, TraceSides sides, std::string title) {
  const Row& row = tree.row(placed.row);
  if (!row.parent) return title;
  if (placed.is_pinned()) title += "  ·  " + tree.row(*row.parent).label.in(shown_language());
  if (!placed.is_pinned() && sides == TraceSides::kApart) return title;
  const Row* top = &row;
  while (top->parent) top = &tree.row(*top->parent);
  return top->kind == RowKind::kTrace ? std::string(short_label(top->label.english())) + "  " + title : title;
}

bool is_expanded(const Row& row, const ExpandedRows& expanded) {
  const auto found = expanded.find(row.key);
  return found != expanded.end() ? found->second : row.expanded_initially;
}

TraceSides sides_of(const RowTree& tree, const RowArrangement& arrangement) {
  return arrangement.sides.value_or(tree.compares_runs() ? TraceSides::kInterleaved : TraceSides::kApart);
}

std::vector<RowIndex> siblings_in_order(const RowTree& tree, std::optional<RowIndex> parent, const RowArrangement& arrangement) {
  std::vector<RowIndex> siblings;
  if (parent) {
    siblings = tree.row(*parent).children;
  } else {
    for (RowIndex index = 0; index < tree.rows().size(); ++index)
      if (!tree.row(index).parent) siblings.push_back(index);
    std::stable_partition(siblings.begin(), siblings.end(), [&](RowIndex index) { return tree.row(index).kind == RowKind::kAnswer; });
  }
  const auto found = arrangement.order.find(parent ? tree.row(*parent).key : std::string());
  if (found == arrangement.order.end()) return siblings;
  const auto rank = [&](RowIndex row) { return std::find(found->second.begin(), found->second.end(), tree.row(row).key); };
  std::stable_sort(siblings.begin(), siblings.end(), [&](RowIndex a, RowIndex b) { return rank(a) < rank(b); });
  return siblings;
}

RowLayout::RowLayout(const RowTree& tree, const RowArrangement& arrangement, const RowMetrics& metrics, std::string_view filter)
    : tree_(&tree), position_(tree.rows().size(), -1) {
  const auto pinned = [&](const std::string& key) { return std::find(arrangement.pinned.begin(), arrangement.pinned.end(), key) != arrangement.pinned.end(); };
  for (const std::string& key : arrangement.pinned)
    if (const auto row = tree.find(key)) add(*row, state_of(tree.row(*row), arrangement.expanded), metrics, RowPlace::kPinned);
  pinned_height_ = height_;

  const std::vector<bool> passes = passing(tree, filter);
  // The children of the row if it is shown and expanded; empty if there is no such row.
  const auto show = [&](std::optional<RowIndex> index) -> std::vector<RowIndex> {
    if (!index || !passes[*index] || arrangement.hidden.contains(tree.row(*index).key)) return {};
    const Row& row = tree.row(*index);
    const RowState state = state_of(row, arrangement.expanded);
    const std::int32_t in_front = position_[*index];
    add(*index, state, metrics, RowPlace::kAmongOthers);
    if (pinned(row.key)) position_[*index] = in_front;
    return state == RowState::kExpanded ? siblings_in_order(tree, index, arrangement) : std::vector<RowIndex>();
  };
  const auto walk = [&](const auto& self, const std::vector<RowIndex>& siblings) -> void {
    for (const RowIndex index : siblings) self(self, show(index));
  };
  const auto walk_pairs = [&](const auto& self, const std::vector<RowPair>& pairs) -> void {
    for (const RowPair& pair : pairs) {
      const std::vector<RowIndex> first = show(pair.first), second = show(pair.second);
      self(self, pair_rows(tree, first, second));
    }
  };
  const std::vector<RowIndex> topmost = siblings_in_order(tree, std::nullopt, arrangement);
  const std::optional<RowPair> headings = headings_of_two(tree);
  const bool interleaved = sides_of(tree, arrangement) == TraceSides::kInterleaved && headings;
  for (const RowIndex index : topmost) {
    if (!interleaved || (index != headings->first && index != headings->second))
      walk(walk, {index});
    else if (index == headings->first)
      walk_pairs(walk_pairs, {*headings});
  }
}

void RowLayout::add(RowIndex index, RowState state, const RowMetrics& metrics, RowPlace place) {
  const Row& row = tree_->row(index);
  const bool open = state == RowState::kExpanded;
  PlacedRow placed;
  placed.row = index;
  placed.top = height_;
  placed.height = metrics.group_height;
  placed.level_height = metrics.level_height;
  placed.place = place;
  if (row.levels.size() > 0 && (open || !row.expandable()))
    placed.levels = row.levels;
  else if (!row.all.empty() && (!open || !row.expandable() || placed.is_pinned()))
    placed.levels = std::span<const Level>(&row.all, 1);
  const auto levels = static_cast<std::int32_t>(std::max<std::size_t>(placed.levels.size(), row.answer_levels));
  if (levels > 1) placed.level_height = metrics.stacked_height;
  if (row.counter) placed.height = metrics.counter_height;
  if (levels > 0) placed.height = placed.level_height * levels;
  placed.height += metrics.gap;
  position_[index] = static_cast<std::int32_t>(rows_.size());
  rows_.push_back(placed);
  height_ += placed.height;
}

std::vector<const PlacedRow*> RowLayout::in_sight(std::int32_t scroll, std::int32_t window_height) const {
  std::vector<const PlacedRow*> shown;
  const auto first_scrolled = std::find_if(rows_.begin(), rows_.end(), [](const PlacedRow& row) { return !row.is_pinned(); });
  for (auto row = first_scrolled; row != rows_.end(); ++row)
    if (row->top - scroll + row->height > pinned_height_ && row->top - scroll < window_height) shown.push_back(&*row);
  for (auto row = rows_.begin(); row != first_scrolled; ++row)
    if (row->top < window_height) shown.push_back(&*row);
  return shown;
}

std::span<const Level> RowLayout::levels_in_sight(const PlacedRow& row, std::int32_t scroll, std::int32_t window_height) noexcept {
  if (row.levels.size() < 2) return row.levels;
  const std::int32_t top = top_in_window(row, scroll);
  const auto levels = static_cast<std::int32_t>(row.levels.size());
  const std::int32_t first = std::clamp(-top / row.level_height, 0, levels);
  const std::int32_t last = std::clamp((window_height - top) / row.level_height + 1, first, levels);
  return row.levels.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

const PlacedRow* RowLayout::row_at(std::int32_t y) const noexcept {
  if (y < 0 || y >= height_) return nullptr;
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), y, [](std::int32_t value, const PlacedRow& row) { return value < row.top; });
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

RowData data_of_rows(const RowTree& tree, const RowArrangement& arrangement, std::string_view filter) {
  RowArrangement open = arrangement;
  for (const Row& row : tree.rows()) open.expanded[row.key] = true;
  const RowLayout layout(tree, open, {}, filter);
  const auto visit_lanes = [](const Row& row, const auto& visit) {
    for (const Level& level : row.levels)
      for (const LaneSource& source : level) visit(source.lane);
  };
  std::set<LaneId> of_innermost;  // lanes of rows that have no children
  for (const Row& row : tree.rows())
    if (row.children.empty()) visit_lanes(row, [&](LaneId lane) { of_innermost.insert(lane); });
  RowData data;
  for (const PlacedRow& placed : layout.rows()) {
    const Row& row = tree.row(placed.row);
    visit_lanes(row, [&](LaneId lane) {
      if (row.children.empty() || !of_innermost.contains(lane)) data.lanes.push_back(lane);
    });
    if (row.counter) data.counters.push_back(*row.counter);
  }
  const auto keep_one_each = [](auto& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  };
  keep_one_each(data.lanes);
  keep_one_each(data.counters);
  return data;
}

}  // namespace lanescope::timeline
