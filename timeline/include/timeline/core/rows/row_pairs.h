// Which rows of two traces on one time axis stand for the same thing: GPU 0 of A and of B, the launching thread of both.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

struct RowPair {
  std::optional<RowIndex> first, second;  // one of them at least
  bool operator==(const RowPair&) const = default;
};

// The rows that head the two traces; none where the tree is not of two. O(rows).
[[nodiscard]] std::optional<RowPair> headings_of_two(const RowTree& tree);

// Pairs what is below one row with what is below the row that it is paired with: rows of the same kind and name, without the numbers of processes
// and threads, in their order; then what is left of a kind whose names tell nothing, in its order: threads whose name is not known, then
// those of other names. In the order of the first; those of the second that have no partner follow. O(rows · log rows).
[[nodiscard]] std::vector<RowPair> pair_rows(const RowTree& tree, std::span<const RowIndex> first, std::span<const RowIndex> second);

// The row of the other trace that pair_rows() finds from the headings down. None for headings, and where the tree is not of two traces or the other
// has no such row. O(rows · depth).
[[nodiscard]] std::optional<RowIndex> row_of_other_trace(const RowTree& tree, RowIndex row);

}  // namespace lanescope::timeline
