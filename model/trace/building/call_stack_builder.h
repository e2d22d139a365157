// Collects call chains for the trace that a TraceBuilder builds. Equal locations and equal chains are stored once.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/trace/call_stacks.h"
#include "row_index.h"

namespace lanescope {

class CallStackBuilder {
 public:
  CallStackBuilder();

  // `function` is what is known of it now; its name must not be 0.
  CodeLocationId location(const CodeLocation& location, const CodeFunction& function);
  // Requires: parent and location exist; the location is not 0. If the node would lie deeper than limits::kCallDepth, returns its parent.
  CallNodeId node(const CallNode& node);
  // The same, but creates a node even if there is an equal one. For tables that have each node once, and are not to be searched for each of them: that would be
  // a cache miss or two.
  CallNodeId another_node(const CallNode& node);
  [[nodiscard]] std::uint64_t too_deep() const noexcept { return too_deep_; }  // how often a node was too deep
  // Replaces the functions of a location. Requires: the location exists, functions is not empty.
  void set_functions(CodeLocationId location, std::vector<CodeFunction> functions);

  CallStacks snapshot();
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return stacks_.locations_.size() * kLocationBytes + stacks_.nodes_.size() * kNodeBytes + location_ids_.memory_bytes() + node_ids_.memory_bytes() +
           further_functions_ * sizeof(CodeFunction);
  }

 private:
  // Bytes of tables: a location has a copy of its functions in each of two snapshots.
  static constexpr std::size_t kLocationBytes = 160, kNodeBytes = sizeof(CallNode) + sizeof(std::uint32_t);
  [[nodiscard]] CallStacks::Functions all_functions() const;
  [[nodiscard]] std::uint64_t hash_of_location(CodeLocationId id) const noexcept;
  [[nodiscard]] std::uint64_t hash_of_node(CallNodeId id) const noexcept;

  RowIndex location_ids_;
  RowIndex node_ids_;                   // of the first nodes; node() adds the others before it searches
  std::vector<CodeFunction> distinct_;  // of each location: the function that distinguishes it if it has no address
  CallStacks stacks_;
  std::vector<CodeFunction> functions_;                          // of each location
  std::map<CodeLocationId, std::vector<CodeFunction>> several_;  // of locations whose number of functions is not one
  std::vector<std::uint32_t> depths_;                            // of nodes: number of calls above
  std::uint64_t further_functions_ = 0;
  std::uint64_t too_deep_ = 0;
  bool changed_ = false;  // functions are newer than those of stacks_
};

}  // namespace lanescope
