// Call trees of sampled chains: top-down (who calls what), bottom-up (who is called by whom), and what each function amounts to.
//
// Calls of one function from one caller are one node, wherever in the functions they are. Functions that the compiler inlined into others
// count as calls. Code of which no function is known counts as one function a module, and calls within that as one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/samples/sampled_stacks.h"
#include "model/samples/shown_calls.h"

namespace lanescope::samples {

using FunctionIndex = std::uint32_t;

struct SampledFunction {
  std::string name;     // "at::native::add_kernel(...)", "libcuda.so.1 (no symbols)", "(unknown)"
  NameId function = 0;  // the same in the trace; 0 where no function is known
  NameId module = 0;
  CodeKind kind = CodeKind::kNative;
  NameId source_file = 0;  // where most of its samples are; 0 where that is not known
  std::uint32_t source_line = 0;
};

// Functions that chains of a trace go through.
class SampledFunctions {
 public:
  explicit SampledFunctions(const Trace& trace);

  [[nodiscard]] const std::vector<SampledFunction>& all() const noexcept { return functions_; }
  // At a code location, innermost first. O(1) but for the first time.
  [[nodiscard]] const std::vector<FunctionIndex>& at(CodeLocationId location);
  // The function of samples whose chain could not be read.
  [[nodiscard]] FunctionIndex unknown();

 private:
  friend class CallTreeBuilder;
  [[nodiscard]] FunctionIndex index_of(CodeKind kind, NameId module, NameId function);

  const Trace* trace_;
  std::vector<std::vector<FunctionIndex>> of_location_;
  std::vector<SampledFunction> functions_;
  std::map<std::tuple<CodeKind, NameId, NameId>, FunctionIndex> ids_;
};

enum class CallTreeOrder : std::uint8_t {
  kTopDown,   // roots are outermost calls, children what they call
  kBottomUp,  // roots are innermost calls, children their callers
};

struct CallTreeNode {
  FunctionIndex function = 0;
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;        // the root's is 0
  std::uint32_t first_child = 0;  // children follow each other: heaviest first, then by name
  std::uint32_t child_count = 0;
  Weight total;  // of chains that go through it
  Weight self;   // of those that end here: top-down the innermost call, bottom-up the outermost
};

class CallTree {
 public:
  CallTree() : nodes_(1) {}

  // The first node is the root: all chains, of no function. Parents come before their children.
  [[nodiscard]] const std::vector<CallTreeNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const CallTreeNode& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  [[nodiscard]] const std::vector<SampledFunction>& functions() const noexcept { return functions_; }
  [[nodiscard]] const SampledFunction& function_of(std::uint32_t node) const noexcept { return functions_[nodes_[node].function]; }
  [[nodiscard]] Weight total() const noexcept { return nodes_.front().total; }

 private:
  friend class CallTreeBuilder;
  std::vector<CallTreeNode> nodes_;
  std::vector<SampledFunction> functions_;
};

// Of chains by their ids. Calls that are not shown count as those that called them. O(distinct chains · depth + call nodes of the trace).
[[nodiscard]] CallTree make_call_tree(const Trace& trace, std::span<const SampledStack> stacks, CallTreeOrder order,
                                      CallChoice choice = CallChoice::kAll);

struct FunctionWeight {
  FunctionIndex function = 0;
  Weight self;   // of chains whose innermost call it is
  Weight total;  // of chains that go through it, each counted once, however often the function calls itself
};
// Heaviest in itself first. Requires: a top-down tree. O(nodes).
[[nodiscard]] std::vector<FunctionWeight> function_weights(const CallTree& top_down);

}  // namespace lanescope::samples
