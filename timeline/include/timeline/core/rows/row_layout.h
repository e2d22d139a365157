// Where rows lie: which rows of the tree are shown, from top to bottom. Pixels are logical. A plain value.
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

// What the user chose to expand or collapse, by row key. Rows without an entry are as Row::expanded_initially says.
using ExpandedRows = std::unordered_map<std::string, bool>;
[[nodiscard]] bool is_expanded(const Row& row, const ExpandedRows& expanded);

enum class RowState : std::uint8_t { kCollapsed, kExpanded };

// Where a row stands: above all others, whatever is scrolled, or among them.
enum class RowPlace : std::uint8_t { kAmongOthers, kPinned };

// How the rows of two traces on one time axis stand: B's below all of A's, or each below the row of A that stands for the same thing (see
// row_pairs.h).
enum class TraceSides : std::uint8_t { kApart, kInterleaved };

// What the user arranged otherwise than the tree has it, all by row key. A key whose row is not there (yet) does no harm.
struct RowArrangement {
  ExpandedRows expanded;
  std::vector<std::string> pinned;         // shown above all others, in this order, whatever is scrolled; they stay in their places too
  std::unordered_set<std::string> hidden;  // with all that is below them
  std::unordered_map<std::string, std::vector<std::string>> order;  // of the children of a row ("": of the topmost rows): those first
  std::optional<TraceSides> sides;                                  // none: nobody chose; see sides_of()
  bool operator==(const RowArrangement&) const = default;
};

// As they were chosen to stand, else interleaved where two runs are compared, so that both are in sight at first, and apart where they are not.
[[nodiscard]] TraceSides sides_of(const RowTree& tree, const RowArrangement& arrangement);

// The children of a row (none: the topmost rows) as they are arranged.
[[nodiscard]] std::vector<RowIndex> siblings_in_order(const RowTree& tree, std::optional<RowIndex> parent, const RowArrangement& arrangement);

// What rows are put in order by: how long they do something, or how long they wait for other ranks.
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
  std::int32_t top = 0;     // from the top of all rows, unscrolled
  std::int32_t height = 0;  // with the gap
  RowPlace place = RowPlace::kAmongOthers;
  std::int32_t level_height = 0;
  std::span<const Level> levels;  // of the tree; one where the row is collapsed; none of an answer's row, which has heights alone

  [[nodiscard]] bool is_pinned() const noexcept { return place == RowPlace::kPinned; }
};

// A row's title where it stands: away from its place in the tree, it also says what it belongs to, and to which of several traces:
// "A  CUDA HW  ·  GPU 0". `title`: of the row alone, as it is shown. O(depth).
[[nodiscard]] std::string placed_title(const RowTree& tree, const PlacedRow& placed, TraceSides sides, std::string title);

class RowLayout {
 public:
  RowLayout() = default;
  // Keeps references into `tree`. `filter`: rows whose title contains it (without regard to case), with all above and below them; "" for
  // all. Pinned rows are not filtered.
  RowLayout(const RowTree& tree, const RowArrangement& arrangement, const RowMetrics& metrics, std::string_view filter);

  // Pinned rows first.
  [[nodiscard]] const std::vector<PlacedRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::int32_t height() const noexcept { return height_; }
  [[nodiscard]] std::int32_t pinned_height() const noexcept { return pinned_height_; }
  // Rows of which something is in sight in a window of this height that shows all from `scroll` on, with the pinned ones above; in the
  // order in which they are to be painted: pinned rows cover others.
  [[nodiscard]] std::vector<const PlacedRow*> in_sight(std::int32_t scroll, std::int32_t window_height) const;
  // Of a row of the layout, the levels of which something is in sight in that window.
  [[nodiscard]] static std::span<const Level> levels_in_sight(const PlacedRow& row, std::int32_t scroll, std::int32_t window_height) noexcept;
  // Where a row is in that window.
  [[nodiscard]] static std::int32_t top_in_window(const PlacedRow& row, std::int32_t scroll) noexcept { return row.is_pinned() ? row.top : row.top - scroll; }
  // From a place in that window to one among all rows: what row_at() and level_at() take.
  [[nodiscard]] std::int32_t unscrolled(std::int32_t y, std::int32_t scroll) const noexcept { return y < pinned_height_ ? y : y + scroll; }
  // The row at y, from the top of all rows. O(log rows).
  [[nodiscard]] const PlacedRow* row_at(std::int32_t y) const noexcept;
  // The level of a row at y; none on the gap and on rows that only group.
  [[nodiscard]] static std::optional<std::uint32_t> level_at(const PlacedRow& row, std::int32_t y) noexcept;
  // The row as it is shown (pinned, where it is), or else the nearest row above it in the tree that is. O(depth).
  [[nodiscard]] const PlacedRow* nearest_shown(RowIndex row) const noexcept;

 private:
  void add(RowIndex row, RowState state, const RowMetrics& metrics, RowPlace place);

  const RowTree* tree_ = nullptr;
  std::vector<PlacedRow> rows_;
  std::vector<std::int32_t> position_;  // in rows_ of each row of the tree; -1: not shown
  std::int32_t height_ = 0;
  std::int32_t pinned_height_ = 0;
};

// What rows hold of a trace: lanes and counters, each once, in order.
struct RowData {
  std::vector<LaneId> lanes;
  std::vector<CounterId> counters;
};

// Of the rows that a layout has where all of them are open; of a row that shows a part of a lane, all of that lane. A row above others has what these
// have of it: what is hidden or filtered out in all of them is not in it.
[[nodiscard]] RowData data_of_rows(const RowTree& tree, const RowArrangement& arrangement, std::string_view filter);

}  // namespace lanescope::timeline
