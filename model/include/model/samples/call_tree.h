// Call trees of sampled chains: top-down (callees below callers), bottom-up (callers below callees), and the weight of each function.
//
// Calls of one function from one caller are one node, wherever in the functions they are. Functions that the compiler inlined into others count as calls. Code
// without a known function counts as one function for each module, and calls within it as one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/samples/sampled_stacks.h"
#include "model/samples/shown_calls.h"

namespace lanescope::samples {

using FunctionIndex = std::uint32_t;

// What a node of a call tree represents. Trees of calls on processors contain only code; trees of GPU time have further nodes below the code (gpu_time.h).
enum class FrameKind : std::uint8_t {
  kNative,
  kOsKernel,
  kPython,
  kGenerated,
  kThread,     // that launched work on a GPU
  kRange,      // an NVTX range around the launch, named as its family: "step_*"
  kOperation,  // a kernel, copy, set or graph on a GPU
  kLine,       // of a kernel's source, followed by the lines into which it was inlined
  kWarpState,  // why warps did not continue: "long_scoreboard"; "selected" if they did
};

struct SampledFunction {
  std::string name;     // "at::native::add_kernel(...)", "libcuda.so.1 (no symbols)", "(unknown)"
  NameId function = 0;  // the same in the trace; 0 if the function is unknown, or if the frame is not code
  NameId module = 0;
  FrameKind kind = FrameKind::kNative;
  NameId source_file = 0;  // with most of its samples; 0 if unknown
  std::uint32_t source_line = 0;
};

// The module of a frame: "libtorch_cpu.so", "Python"; for a frame that is not code, its kind: "NVTX". "" if unknown.
[[nodiscard]] std::string module_text(const Trace& trace, const SampledFunction& function);

// Functions in the chains of a trace, and other frames of a call tree.
class SampledFunctions {
 public:
  explicit SampledFunctions(const Trace& trace);

  [[nodiscard]] const std::vector<SampledFunction>& all() const noexcept { return functions_; }
  // The functions at a code location, innermost first. O(1) after the first call.
  [[nodiscard]] const std::vector<FunctionIndex>& at(CodeLocationId location);
  // The function for samples whose chain could not be read.
  [[nodiscard]] FunctionIndex unknown();
  // The index of a frame that is not code; one for each kind and name. O(log frames).
  [[nodiscard]] FunctionIndex frame(FrameKind kind, std::string_view name);
  // Sets the line at which most of a function's samples are.
  void set_line(FunctionIndex function, NameId source_file, std::uint32_t source_line);
  [[nodiscard]] std::vector<SampledFunction> take() && { return std::move(functions_); }

 private:
  [[nodiscard]] FunctionIndex index_of(CodeKind kind, NameId module, NameId function);

  const Trace* trace_;
  std::vector<std::vector<FunctionIndex>> of_location_;
  std::vector<SampledFunction> functions_;
  std::map<std::tuple<CodeKind, NameId, NameId>, FunctionIndex> ids_;
  std::map<std::pair<FrameKind, std::string>, FunctionIndex, std::less<>> frames_;
};

enum class CallTreeOrder : std::uint8_t {
  kTopDown,   // roots are outermost calls, children what they call
  kBottomUp,  // roots are innermost calls, children their callers
};

struct CallTreeNode {
  FunctionIndex function = 0;
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;        // the root's is 0
  std::uint32_t first_child = 0;  // children are adjacent: heaviest first, then by name
  std::uint32_t child_count = 0;
  Weight total;  // of chains that contain it
  Weight self;   // of chains that end here: top-down the innermost call, bottom-up the outermost
};

class CallTree {
 public:
  CallTree() : nodes_(1) {}

  // The first node is the root: all chains, without a function. Parents come before their children.
  [[nodiscard]] const std::vector<CallTreeNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const CallTreeNode& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  [[nodiscard]] const std::vector<SampledFunction>& functions() const noexcept { return functions_; }
  [[nodiscard]] const SampledFunction& function_of(std::uint32_t node) const noexcept { return functions_[nodes_[node].function]; }
  [[nodiscard]] Weight total() const noexcept { return nodes_.front().total; }

 private:
  friend class CallTreeGrowth;
  std::vector<CallTreeNode> nodes_;
  std::vector<SampledFunction> functions_;
};

// Makes a tree of chains, given by their ids. Calls that are not shown are attributed to their callers. O(distinct chains · depth + call nodes of the trace).
[[nodiscard]] CallTree make_call_tree(const Trace& trace, std::span<const SampledStack> stacks, CallTreeOrder order, CallChoice choice = CallChoice::kAll);

struct FunctionWeight {
  FunctionIndex function = 0;
  Weight self;   // of chains with this innermost call
  Weight total;  // of chains that contain it, each counted once, also if the function calls itself
};
// Highest self weight first. Requires: a top-down tree. O(nodes).
[[nodiscard]] std::vector<FunctionWeight> function_weights(const CallTree& top_down);

}  // namespace lanescope::samples
