#include "model/samples/call_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "call_tree_growth.h"
#include "model/file/last_path_part.h"

namespace lanescope::samples {
namespace {

constexpr std::uint32_t kRoot = CallTreeGrowth::kRoot;

FrameKind frame_kind(CodeKind kind) noexcept {
  switch (kind) {
    case CodeKind::kNative:
      return FrameKind::kNative;
    case CodeKind::kKernel:
      return FrameKind::kOsKernel;
    case CodeKind::kPython:
      return FrameKind::kPython;
    case CodeKind::kGenerated:
      return FrameKind::kGenerated;
  }
  return FrameKind::kNative;
}

}  // namespace

std::string module_text(const Trace& trace, const SampledFunction& function) {
  switch (function.kind) {
    case FrameKind::kPython:
      return "Python";
    case FrameKind::kThread:
      return "thread";
    case FrameKind::kRange:
      return "NVTX";
    case FrameKind::kOperation:
      return "GPU";
    case FrameKind::kLine:
      return "source of a kernel";
    case FrameKind::kWarpState:
      return "state of warps";
    case FrameKind::kNative:
    case FrameKind::kOsKernel:
    case FrameKind::kGenerated:
      break;
  }
  return function.module == 0 ? std::string() : std::string(last_path_part(trace.name(function.module)));
}

SampledFunctions::SampledFunctions(const Trace& trace) : trace_(&trace), of_location_(trace.call_stacks().location_count()) {}

FunctionIndex SampledFunctions::index_of(CodeKind kind, NameId module, NameId function) {
  const auto [found, inserted] = ids_.try_emplace({kind, module, function}, static_cast<FunctionIndex>(functions_.size()));
  if (!inserted) return found->second;
  SampledFunction& added = functions_.emplace_back();
  added.function = function;
  added.module = module;
  added.kind = frame_kind(kind);
  if (function != 0)
    added.name = trace_->name(function);
  else if (module != 0)
    added.name = std::string(last_path_part(trace_->name(module))) + " (no symbols)";
  else
    added.name = "(unknown)";
  return found->second;
}

const std::vector<FunctionIndex>& SampledFunctions::at(CodeLocationId location) {
  std::vector<FunctionIndex>& known = of_location_[location];
  if (!known.empty()) return known;
  const CodeLocation& place = trace_->call_stacks().location(location);
  for (const CodeFunction& each : trace_->call_stacks().functions(location))
    known.push_back(index_of(place.kind, place.module, is_address_text(trace_->name(each.function)) ? 0 : each.function));
  if (known.empty()) known.push_back(unknown());
  return known;
}

FunctionIndex SampledFunctions::unknown() { return index_of(CodeKind::kNative, 0, 0); }

FunctionIndex SampledFunctions::frame(FrameKind kind, std::string_view name) {
  const auto [found, inserted] = frames_.try_emplace({kind, std::string(name)}, static_cast<FunctionIndex>(functions_.size()));
  if (inserted) {
    SampledFunction& added = functions_.emplace_back();
    added.name = name;
    added.kind = kind;
  }
  return found->second;
}

void SampledFunctions::set_line(FunctionIndex function, NameId source_file, std::uint32_t source_line) {
  functions_[function].source_file = source_file;
  functions_[function].source_line = source_line;
}

namespace {

// Builds a tree from the calls in chains of a trace.
class CallTreeBuilder {
 public:
  CallTreeBuilder(const Trace& trace, CallChoice choice) : stacks_(trace.call_stacks()), calls_(trace.call_stacks(), choice), functions_(trace) {}

  CallTree top_down(std::span<const SampledStack> chains) {
    // The trace's calls already form a tree, with callers before callees. Sums are computed upwards, and several nodes of one function below one caller are
    // merged.
    const std::vector<Weight> totals = totals_of_calls(chains);
    std::vector<std::uint32_t> node_of_call(totals.size(), kRoot);
    for (CallNodeId call = 1; call < totals.size(); ++call) {
      if (totals[call].count == 0) continue;
      std::uint32_t node = node_of_call[calls_.caller(call)];
      const auto& functions = functions_.at(stacks_.node(call).location);
      for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
        if (stays_in(node, *function)) continue;
        node = tree_.child(node, *function);
        tree_.node(node).total += totals[call];
      }
      node_of_call[call] = node;
    }
    for (const SampledStack& each : chains) {
      const std::uint32_t node = each.chain == 0 ? unreadable(each.weight) : node_of_call[calls_.innermost(each.chain)];
      tree_.node(node).self += each.weight;
    }
    note_lines(totals);
    return finish(chains);
  }

  CallTree bottom_up(std::span<const SampledStack> chains) {
    for (const SampledStack& each : chains) {
      std::uint32_t node = each.chain == 0 ? unreadable(each.weight) : kRoot;
      for (CallNodeId call = calls_.innermost(each.chain); call != 0; call = calls_.caller(call))
        for (const FunctionIndex function : functions_.at(stacks_.node(call).location)) {
          if (stays_in(node, function)) continue;
          node = tree_.child(node, function);
          tree_.node(node).total += each.weight;
        }
      tree_.node(node).self += each.weight;
    }
    note_lines(totals_of_calls(chains));
    return finish(chains);
  }

 private:
  // True for a call from code without symbols to code of the same module: the functions are unknown, so they count as one.
  bool stays_in(std::uint32_t node, FunctionIndex function) const {
    return node != kRoot && tree_.node(node).function == function && functions_.all()[function].function == 0;
  }

  std::uint32_t unreadable(const Weight& weight) {
    const std::uint32_t node = tree_.child(kRoot, functions_.unknown());
    tree_.node(node).total += weight;
    return node;
  }

  std::vector<Weight> totals_of_calls(std::span<const SampledStack> chains) const {
    std::vector<Weight> totals(chains.empty() ? 0 : chains.back().chain + 1);  // chains are sorted by id
    for (const SampledStack& each : chains) totals[calls_.innermost(each.chain)] += each.weight;
    for (std::size_t call = totals.size(); call-- > 1;)
      if (const CallNodeId caller = calls_.caller(static_cast<CallNodeId>(call)); caller != 0) totals[caller] += totals[call];
    return totals;
  }

  // Sets the line of each function at which most of its samples are.
  void note_lines(const std::vector<Weight>& totals) {
    std::unordered_map<CodeLocationId, std::uint64_t> of_location;
    for (CallNodeId call = 1; call < totals.size(); ++call)
      if (totals[call].count > 0) of_location[stacks_.node(call).location] += totals[call].count;
    std::map<std::tuple<FunctionIndex, NameId, std::uint32_t>, std::uint64_t> of_line;
    for (const auto& [location, count] : of_location) {
      const auto& indexes = functions_.at(location);
      const auto functions = stacks_.functions(location);
      for (std::size_t i = 0; i < functions.size(); ++i)
        if (functions[i].source_file != 0) of_line[{indexes[i], functions[i].source_file, functions[i].source_line}] += count;
    }
    std::vector<std::uint64_t> most(functions_.all().size());
    for (const auto& [line, count] : of_line) {
      const auto [function, file, number] = line;
      if (count <= most[function]) continue;
      most[function] = count;
      functions_.set_line(function, file, number);
    }
  }

  CallTree finish(std::span<const SampledStack> chains) {
    for (const SampledStack& each : chains) tree_.node(kRoot).total += each.weight;
    return std::move(tree_).finish(std::move(functions_).take(), WeightBy::kCount);
  }

  const CallStacks& stacks_;
  ShownCalls calls_;
  SampledFunctions functions_;
  CallTreeGrowth tree_;
};

}  // namespace

CallTree make_call_tree(const Trace& trace, std::span<const SampledStack> stacks, CallTreeOrder order, CallChoice choice) {
  CallTreeBuilder builder(trace, choice);
  return order == CallTreeOrder::kTopDown ? builder.top_down(stacks) : builder.bottom_up(stacks);
}

std::vector<FunctionWeight> function_weights(const CallTree& tree) {
  std::vector<FunctionWeight> weights(tree.functions().size());
  for (FunctionIndex i = 0; i < weights.size(); ++i) weights[i].function = i;
  // Depth first, with the number of open calls of each function: only its outermost call counts.
  std::vector<std::uint32_t> open(tree.functions().size());
  struct Step {
    std::uint32_t node;
    bool leaves;
  };
  std::vector<Step> steps{{kRoot, false}};
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    const CallTreeNode& node = tree.node(step.node);
    if (step.leaves) {
      --open[node.function];
      continue;
    }
    if (step.node != kRoot) {
      if (open[node.function]++ == 0) weights[node.function].total += node.total;
      weights[node.function].self += node.self;
      steps.push_back({step.node, true});
    }
    for (std::uint32_t i = 0; i < node.child_count; ++i) steps.push_back({node.first_child + i, false});
  }
  const auto heavier = [&](const FunctionWeight& a, const FunctionWeight& b) {
    if (a.self != b.self) return a.self > b.self;
    if (a.total != b.total) return a.total > b.total;
    return tree.functions()[a.function].name < tree.functions()[b.function].name;
  };
  std::stable_sort(weights.begin(), weights.end(), heavier);
  return weights;
}

}  // namespace lanescope::samples
