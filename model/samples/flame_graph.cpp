#include "model/samples/flame_graph.h"

#include <algorithm>

namespace lanescope::samples {

std::vector<FlameBox> flame_graph(const CallTree& tree, std::uint32_t focus, WeightBy by, double narrowest) {
  std::vector<FlameBox> boxes;
  for (std::uint32_t node = focus; node != 0; node = tree.node(node).parent) boxes.push_back({node, tree.node(node).depth, 0, 1});
  boxes.push_back({0, 0, 0, 1});
  std::reverse(boxes.begin(), boxes.end());
  const double whole = amount(tree.node(focus).total, by);
  if (whole <= 0) return boxes;
  for (std::size_t at = boxes.size() - 1; at < boxes.size(); ++at) {  // breadth first: new boxes are appended
    const FlameBox parent = boxes[at];
    const CallTreeNode& node = tree.node(parent.node);
    double left = parent.left;
    for (std::uint32_t child = node.first_child; child < node.first_child + node.child_count; ++child) {
      const double width = amount(tree.node(child).total, by) / whole;
      if (width >= narrowest && width > 0) boxes.push_back({child, parent.depth + 1, left, left + width});
      left += width;
    }
  }
  return boxes;
}

}  // namespace lanescope::samples
