// The positions of rows: which rows of the tree are shown, from top to bottom. Pixels are logical. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

// Rows that the user expanded or collapsed, by row key. Rows without an entry use Row::expanded_initially.
using ExpandedRows = std::unordered_map<std::string, bool>;
[[nodiscard]] bool is_expanded(const Row& row, const ExpandedRows& expanded);

enum class RowState : std::uint8_t { kCollapsed, kExpanded };

// The place of a row: above all others, independent of scrolling, or among them.
enum class RowPlace : std::uint8_t { kAmongOthers, kPinned };

// The order of the rows of two traces on one time axis: B's below all of A's, or each below its counterpart of A (see row_pairs.h).
enum class TraceSides : std::uint8_t { kApart, kInterleaved };

// The user's changes to the arrangement of the tree, by row key. Keys without a row do no harm.
struct RowArrangement {
  ExpandedRows expanded;
  std::vector<std::string> pinned;         // shown above all others, in this order, independent of scrolling; they also stay in their places
  std::unordered_set<std::string> hidden;  // with everything below them
  std::unordered_map<std::string, std::vector<std::string>> order;  // children of a row ("": of the topmost rows) that come first
  std::optional<TraceSides> sides;                                  // nothing: not chosen; see sides_of()
  bool operator==(const RowArrangement&) const = default;
};

// The chosen order; by default interleaved if two runs are compared, so that both are in sight, else apart.
[[nodiscard]] TraceSides sides_of(const RowTree& tree, const RowArrangement& arrangement);

// The children of a row (no parent: the topmost rows) in their arranged order.
[[nodiscard]] std::vector<RowIndex> siblings_in_order(const RowTree& tree, std::optional<RowIndex> parent, const RowArrangement& arrangement);

// The criterion for sorting rows: their busy time, or their waiting time for other ranks.
enum class RowMeasure { kBusy, kWaiting };

struct RowMetrics {
  std::int32_t level_height = 18;    // of a row with one level
  std::int32_t stacked_height = 16;  // of each level of a row with several
  std::int32_t group_height = 22;    // of a row that only groups others
  std::int32_t counter_height = 36;  // of a row that shows a counter
  std::int32_t gap = 1;              // below each row, for the separator
};

struct PlacedRow {
  RowIndex row = 0;
  std::int32_t top = 0;     // from the top of all rows, without scrolling
  std::int32_t height = 0;  // with the gap
  RowPlace place = RowPlace::kAmongOthers;
  std::int32_t level_height = 0;
  std::span<const Level> levels;  // of the tree; one if the row is collapsed; none for an answer row, which has only heights

  [[nodiscard]] bool is_pinned() const noexcept { return place == RowPlace::kPinned; }
};

// A row's title at its position: away from its place in the tree it includes its owner, and its trace if there are several: "A  CUDA HW  ·  GPU 0". `title`: of
// the row alone, as it is shown. O(depth).
[[nodiscard]] std::string placed_title(const RowTree& tree, const PlacedRow& placed, TraceSides sides, std::string title);

// The collapsed rows that must be expanded to show the rows whose titles contain the filter; if matching rows are nested, only for the topmost. None for "".
// O(rows).
[[nodiscard]] std::vector<RowIndex> closed_above_matches(const RowTree& tree, const ExpandedRows& expanded, std::string_view filter);

class RowLayout {
 public:
  RowLayout() = default;
  // Keeps references into `tree`. `filter`: shows only rows whose title contains it (ignoring case), with all rows above and below them; "" shows all. Pinned
  // rows are not filtered.
  RowLayout(const RowTree& tree, const RowArrangement& arrangement, const RowMetrics& metrics, std::string_view filter);

  // Pinned rows first.
  [[nodiscard]] const std::vector<PlacedRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::int32_t height() const noexcept { return height_; }
  [[nodiscard]] std::int32_t pinned_height() const noexcept { return pinned_height_; }
  // Rows that are at least partly in sight in a window of this height that is scrolled to `scroll` and has the pinned rows on top. They are in the order of
  // painting: pinned rows cover others.
  [[nodiscard]] std::vector<const PlacedRow*> in_sight(std::int32_t scroll, std::int32_t window_height) const;
  // The levels of a row of the layout that are at least partly in sight in that window.
  [[nodiscard]] static std::span<const Level> levels_in_sight(const PlacedRow& row, std::int32_t scroll, std::int32_t window_height) noexcept;
  // The position of a row in that window.
  [[nodiscard]] static std::int32_t top_in_window(const PlacedRow& row, std::int32_t scroll) noexcept { return row.is_pinned() ? row.top : row.top - scroll; }
  // Converts a position in that window to one among all rows, as row_at() and level_at() expect.
  [[nodiscard]] std::int32_t unscrolled(std::int32_t y, std::int32_t scroll) const noexcept { return y < pinned_height_ ? y : y + scroll; }
  // The row at y, from the top of all rows. O(log rows).
  [[nodiscard]] const PlacedRow* row_at(std::int32_t y) const noexcept;
  // The level of a row at y; nothing on the gap and on rows that only group.
  [[nodiscard]] static std::optional<std::uint32_t> level_at(const PlacedRow& row, std::int32_t y) noexcept;
  // The row itself if it is shown (at its pinned place if it is pinned), else the nearest shown row above it in the tree. O(depth).
  [[nodiscard]] const PlacedRow* nearest_shown(RowIndex row) const noexcept;

 private:
  void add(RowIndex row, RowState state, const RowMetrics& metrics, RowPlace place);

  const RowTree* tree_ = nullptr;
  std::vector<PlacedRow> rows_;
  std::vector<std::int32_t> position_;  // index into rows_ of each row of the tree; -1: not shown
  std::int32_t height_ = 0;
  std::int32_t pinned_height_ = 0;
};

// The data of a trace that rows show: lanes and counters, each once, in order.
struct RowData {
  std::vector<LaneId> lanes;
  std::vector<CounterId> counters;
};

// For the rows that a layout has if all of them are expanded; for a row that shows a part of a lane, the whole lane. A parent row has what its visible children
// have: what is hidden or filtered out in all of them is left out.
[[nodiscard]] RowData data_of_rows(const RowTree& tree, const RowArrangement& arrangement, std::string_view filter);

}  // namespace lanescope::timeline
