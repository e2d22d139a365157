// A call tree as rectangles: the width of each call is its share, and it is below its caller.
#pragma once

#include <cstdint>
#include <vector>

#include "model/samples/call_tree.h"

namespace lanescope::samples {

struct FlameBox {
  std::uint32_t node = 0;
  std::uint32_t depth = 0;  // 0 for the root
  double left = 0;          // from 0 to 1 of the width
  double right = 0;
};

// The calls from the root to `focus`, each over the whole width, and everything below `focus`. Boxes narrower than `narrowest` are left out. Sorted by depth,
// then from left to right. O(boxes · children).
[[nodiscard]] std::vector<FlameBox> flame_graph(const CallTree& tree, std::uint32_t focus, WeightBy by, double narrowest);

}  // namespace lanescope::samples
