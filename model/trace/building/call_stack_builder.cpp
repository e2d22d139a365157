#include "call_stack_builder.h"

#include <span>
#include <utility>

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

namespace {

std::uint64_t hash_of(const CodeLocation& location, const CodeFunction& function) noexcept {
  return hash_of_numbers(static_cast<std::uint32_t>(location.kind), location.module, location.build_id, location.address, function.function,
                         function.source_file, function.source_line);
}
std::uint64_t hash_of(const CallNode& node) noexcept { return hash_of_numbers(node.parent, node.location); }

}  // namespace

// Row 0 of both tables stands for nothing. It is in their indexes, whose rows are those of the tables, but it is never found.
CallStackBuilder::CallStackBuilder() : distinct_(1), functions_(1), depths_(1) {
  stacks_.nodes_.append({});
  stacks_.locations_.append({});
  location_ids_.append(hash_of_location(0), [](std::uint32_t) { return std::uint64_t{0}; });
}

std::uint64_t CallStackBuilder::hash_of_location(CodeLocationId id) const noexcept { return hash_of(stacks_.locations_[id], distinct_[id]); }
std::uint64_t CallStackBuilder::hash_of_node(CallNodeId id) const noexcept { return hash_of(stacks_.nodes_[id]); }

CodeLocationId CallStackBuilder::location(const CodeLocation& location, const CodeFunction& function) {
  const CodeFunction distinct = location.address == 0 ? function : CodeFunction{};
  const std::uint64_t hash = hash_of(location, distinct);
  const auto is_same = [&](CodeLocationId id) { return id != 0 && stacks_.locations_[id] == location && distinct_[id] == distinct; };
  if (const CodeLocationId known = location_ids_.find(hash, is_same); known != kNone) return known;
  const auto id = static_cast<CodeLocationId>(stacks_.locations_.append(location));
  distinct_.push_back(distinct);
  functions_.push_back(function);
  location_ids_.append(hash, [this](CodeLocationId row) { return hash_of_location(row); });
  changed_ = true;
  return id;
}

CallNodeId CallStackBuilder::node(const CallNode& node) {
  const auto hash_of_row = [this](CallNodeId row) { return hash_of_node(row); };
  while (node_ids_.size() < stacks_.nodes_.size()) node_ids_.append(hash_of_node(node_ids_.size()), hash_of_row);
  const auto is_same = [&](CallNodeId id) { return id != 0 && stacks_.nodes_[id] == node; };
  const CallNodeId known = node_ids_.find(hash_of(node), is_same);
  return known != kNone ? known : another_node(node);
}

CallNodeId CallStackBuilder::another_node(const CallNode& node) {
  if (depths_[node.parent] >= limits::kCallDepth) {
    ++too_deep_;
    return node.parent;
  }
  depths_.push_back(depths_[node.parent] + 1);
  return static_cast<CallNodeId>(stacks_.nodes_.append(node));
}

void CallStackBuilder::set_functions(CodeLocationId location, std::vector<CodeFunction> functions) {
  further_functions_ += functions.size();
  if (functions.size() == 1) {
    functions_[location] = functions.front();
    several_.erase(location);
  } else {
    several_[location] = std::move(functions);
  }
  changed_ = true;
}

CallStacks CallStackBuilder::snapshot() {
  if (std::exchange(changed_, false)) stacks_.functions_ = std::make_shared<const CallStacks::Functions>(all_functions());
  return stacks_;
}

CallStacks::Functions CallStackBuilder::all_functions() const {
  CallStacks::Functions all;
  all.reserve(functions_.size(), functions_.size() + further_functions_);
  all.append({});  // of location 0
  auto several = several_.begin();
  for (CodeLocationId id = 1; id < functions_.size(); ++id) {
    const bool is_one = several == several_.end() || several->first != id;
    all.append(is_one ? std::span(&functions_[id], 1) : std::span<const CodeFunction>(several->second));
    if (!is_one) ++several;
  }
  return all;
}

}  // namespace lanescope
