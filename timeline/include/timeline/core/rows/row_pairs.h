// Pairs rows of two traces on one time axis that stand for the same thing: GPU 0 of A and of B, the launching thread of both.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

struct RowPair {
  std::optional<RowIndex> first, second;  // at least one of them is set
  bool operator==(const RowPair&) const = default;
};

// The rows that head the two traces; nothing if the tree does not have two. O(rows).
[[nodiscard]] std::optional<RowPair> headings_of_two(const RowTree& tree);

// Pairs rows below one row with rows below the row that it is paired with. First, rows of the same kind and name, without the numbers of processes and threads,
// in their order. Then, for kinds whose names tell nothing, the remaining rows in their order: threads without a known name, then threads with other names. The
// result has the order of `first`; rows of `second` without a partner follow. O(rows · log rows).
[[nodiscard]] std::vector<RowPair> pair_rows(const RowTree& tree, std::span<const RowIndex> first, std::span<const RowIndex> second);

// The row of the other trace that pair_rows() finds, starting at the headings. Nothing for headings, if the tree does not have two traces, or if the other has
// no such row. O(rows · depth).
[[nodiscard]] std::optional<RowIndex> row_of_other_trace(const RowTree& tree, RowIndex row);

}  // namespace lanescope::timeline
