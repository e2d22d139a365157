// A call tree that grows node by node. Internal to call trees.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/samples/call_tree.h"

namespace lanescope::samples {

class CallTreeGrowth {
 public:
  static constexpr std::uint32_t kRoot = 0;

  // The node of a function below another one; creates it if necessary.
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, FunctionIndex function);
  // Whoever grows the tree adds to the weights of nodes, including the root's total.
  [[nodiscard]] CallTreeNode& node(std::uint32_t index) noexcept { return nodes_[index]; }
  [[nodiscard]] const CallTreeNode& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(nodes_.size()); }

  // Makes siblings adjacent, heaviest first. O(nodes · log siblings).
  [[nodiscard]] CallTree finish(std::vector<SampledFunction> functions, WeightBy by) &&;

 private:
  std::vector<CallTreeNode> nodes_{1};
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and function
};

}  // namespace lanescope::samples
