// Which rows of two traces on one time axis stand for the same thing: GPU 0 of A and of B, the launching thread of both.
#pragma once

#include <optional>

#include "timeline/core/row_tree.h"

namespace lanescope::timeline {

// The row of the other trace that is at the same place below its heading: step by step, the one of the same kind and name, without the numbers
// of processes and threads; of several alike, the one with the same position among them; of none, that with the same position among those of
// its kind. None for headings, and where the tree is not of two traces or the other has no such row. O(depth · siblings).
[[nodiscard]] std::optional<RowIndex> row_of_other_trace(const RowTree& tree, RowIndex row);

}  // namespace lanescope::timeline
