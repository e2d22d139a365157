#include "call_tree_growth.h"

#include <algorithm>
#include <utility>

namespace lanescope::samples {

std::uint32_t CallTreeGrowth::child(std::uint32_t parent, FunctionIndex function) {
  const auto [found, inserted] = children_.try_emplace(std::uint64_t{parent} << 32 | function, size());
  if (inserted) {
    CallTreeNode& added = nodes_.emplace_back();
    added.function = function;
    added.parent = parent;
    added.depth = nodes_[parent].depth + 1;
  }
  return found->second;
}

CallTree CallTreeGrowth::finish(std::vector<SampledFunction> functions, WeightBy by) && {
  std::vector<std::vector<std::uint32_t>> children(nodes_.size());
  for (std::uint32_t node = 1; node < nodes_.size(); ++node) children[nodes_[node].parent].push_back(node);
  const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
    const Weight &one = nodes_[a].total, &other = nodes_[b].total;
    if (by == WeightBy::kTime && one.time != other.time) return one.time > other.time;
    if (one != other) return one > other;
    return functions[nodes_[a].function].name < functions[nodes_[b].function].name;
  };
  CallTree tree;
  std::vector<std::uint32_t> origin{kRoot};
  tree.nodes_ = {nodes_[kRoot]};
  for (std::uint32_t node = 0; node < tree.nodes_.size(); ++node) {
    std::vector<std::uint32_t>& below = children[origin[node]];
    std::stable_sort(below.begin(), below.end(), heavier);
    tree.nodes_[node].first_child = static_cast<std::uint32_t>(tree.nodes_.size());
    tree.nodes_[node].child_count = static_cast<std::uint32_t>(below.size());
    for (const std::uint32_t each : below) {
      origin.push_back(each);
      tree.nodes_.push_back(nodes_[each]);
      tree.nodes_.back().parent = node;
    }
  }
  tree.functions_ = std::move(functions);
  return tree;
}

}  // namespace lanescope::samples
