#include "model/samples/line_weights.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lanescope::samples {

std::vector<LineWeight> line_weights(const Trace& trace, std::span<const SampledStack> stacks, CallChoice choice, WeightBy by) {
  using Line = std::pair<NameId, std::uint32_t>;
  const CallStacks& calls = trace.call_stacks();
  const ShownCalls shown(calls, choice);
  std::map<Line, LineWeight> weights;
  std::set<Line> seen;  // in one chain
  for (const SampledStack& stack : stacks) {
    seen.clear();
    bool is_innermost = true;
    for (CallNodeId call = shown.innermost(stack.chain); call != 0; call = shown.caller(call))
      for (const CodeFunction& function : calls.functions(calls.node(call).location)) {
        const bool is_own = std::exchange(is_innermost, false);
        if (function.source_file == 0) continue;
        const Line line{function.source_file, function.source_line};
        LineWeight& weight = weights[line];
        if (weight.function == 0 || function.function < weight.function) weight.function = function.function;
        if (is_own) weight.self += stack.weight;
        if (seen.insert(line).second) weight.total += stack.weight;
      }
  }
  std::vector<LineWeight> lines;
  lines.reserve(weights.size());
  for (auto& [line, weight] : weights) {
    weight.file = line.first;
    weight.line = line.second;
    lines.push_back(weight);
  }
  std::sort(lines.begin(), lines.end(), [&](const LineWeight& a, const LineWeight& b) {
    if (const double x = amount(a.self, by), y = amount(b.self, by); x != y) return x > y;
    if (const double x = amount(a.total, by), y = amount(b.total, by); x != y) return x > y;
    return std::pair(trace.name(a.file), a.line) < std::pair(trace.name(b.file), b.line);
  });
  return lines;
}

}  // namespace lanescope::samples
