#include "call_stack_builder.h"

#include "model/file/limits.h"

namespace lanescope {

std::vector<CodeLocationId> CallStacks::chain(CallNodeId id) const {
  std::vector<CodeLocationId> locations;
  for (; id != 0 && id < nodes_.size(); id = nodes_[id].parent) locations.push_back(nodes_[id].location);
  return locations;
}

bool is_address_text(std::string_view function) noexcept {
  const auto plus = function.rfind('+');
  std::string_view number = plus == std::string_view::npos ? function : function.substr(plus + 1);
  if (!number.starts_with("0x") || number.size() == 2) return false;
  return number.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

CallStackBuilder::CallStackBuilder() : functions_(1), depths_(1) {
  stacks_.nodes_.append({});
  stacks_.locations_.append({});
}

CodeLocationId CallStackBuilder::location(const CodeLocation& location, const CodeFunction& function) {
  const CodeFunction distinct = location.address == 0 ? function : CodeFunction{};
  const auto [found, inserted] = location_ids_.try_emplace({location, distinct}, static_cast<CodeLocationId>(stacks_.locations_.size()));
  if (inserted) {
    stacks_.locations_.append(location);
    functions_.push_back({function});
    changed_ = true;
  }
  return found->second;
}

CallNodeId CallStackBuilder::node(const CallNode& node) {
  if (depths_[node.parent] >= limits::kCallDepth) {
    ++too_deep_;
    return node.parent;
  }
  const auto [found, inserted] = node_ids_.try_emplace(node, static_cast<CallNodeId>(stacks_.nodes_.size()));
  if (inserted) {
    stacks_.nodes_.append(node);
    depths_.push_back(depths_[node.parent] + 1);
  }
  return found->second;
}

void CallStackBuilder::set_functions(CodeLocationId location, std::vector<CodeFunction> functions) {
  further_functions_ += functions.size();
  functions_[location] = std::move(functions);
  changed_ = true;
}

CallStacks CallStackBuilder::snapshot() {
  if (changed_) stacks_.functions_ = std::make_shared<const CallStacks::Functions>(functions_);
  changed_ = false;
  return stacks_;
}

}  // namespace lanescope
