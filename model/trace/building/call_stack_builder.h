// Collects call chains for the trace that a TraceBuilder builds. Equal locations and equal chains are stored once.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/trace/call_stacks.h"

namespace lanescope {

class CallStackBuilder {
 public:
  CallStackBuilder();

  // `function` is what is known of it now; its name must not be 0.
  CodeLocationId location(const CodeLocation& location, const CodeFunction& function);
  // Requires: parent and location exist; the location is not 0. Where it would lie deeper than limits::kCallDepth, its parent.
  CallNodeId node(const CallNode& node);
  [[nodiscard]] std::uint64_t too_deep() const noexcept { return too_deep_; }  // how often that was so
  // Replaces what is known of a location. Requires: the location exists, functions is not empty.
  void set_functions(CodeLocationId location, std::vector<CodeFunction> functions);

  CallStacks snapshot();
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return location_ids_.size() * kLocationBytes + node_ids_.size() * kNodeBytes + further_functions_ * sizeof(CodeFunction);
  }

 private:
  static constexpr std::size_t kLocationBytes = 240, kNodeBytes = 94;             // with the maps that find them
  std::map<std::pair<CodeLocation, CodeFunction>, CodeLocationId> location_ids_;  // the function tells apart what has no address
  std::map<CallNode, CallNodeId> node_ids_;
  CallStacks stacks_;
  CallStacks::Functions functions_;
  std::vector<std::uint32_t> depths_;  // of nodes: how many calls lie above
  std::uint64_t further_functions_ = 0;
  std::uint64_t too_deep_ = 0;
  bool changed_ = false;  // functions_ is newer than stacks_'s
};

}  // namespace lanescope
