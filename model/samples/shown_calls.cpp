#include "model/samples/shown_calls.h"

#include <algorithm>
#include <unordered_set>

namespace lanescope::samples {
namespace {

const CodeLocation& place_of(const CallStacks& stacks, CallNodeId call) { return stacks.location(stacks.node(call).location); }

bool is_python(const CallStacks& stacks, CallNodeId call) { return call != 0 && place_of(stacks, call).kind == CodeKind::kPython; }

// The files whose code calls Python functions.
std::unordered_set<NameId> interpreters(const CallStacks& stacks) {
  std::unordered_set<NameId> modules;
  for (CallNodeId call = 1; call < stacks.node_count(); ++call) {
    const CallNodeId parent = stacks.node(call).parent;
    if (!is_python(stacks, call) || parent == 0 || is_python(stacks, parent)) continue;
    if (const NameId module = place_of(stacks, parent).module; module != 0) modules.insert(module);
  }
  return modules;
}

}  // namespace

ShownCalls::ShownCalls(const CallStacks& stacks, CallChoice choice) : innermost_(std::max<std::size_t>(1, stacks.node_count())), caller_(innermost_.size()) {
  const std::unordered_set<NameId> interpreter = choice == CallChoice::kWithoutInterpreter ? interpreters(stacks) : std::unordered_set<NameId>();
  std::vector<bool> below_python(innermost_.size());  // or the call is a Python function itself
  for (CallNodeId call = 1; call < stacks.node_count(); ++call) {
    const CallNodeId parent = stacks.node(call).parent;
    const bool python = is_python(stacks, call);
    below_python[call] = python || below_python[parent];
    const bool shown = choice == CallChoice::kAll || python || !below_python[call] ||
                       (choice == CallChoice::kWithoutInterpreter && !interpreter.contains(place_of(stacks, call).module));
    innermost_[call] = shown ? call : innermost_[parent];
    const bool outermost = choice != CallChoice::kAll && python && !below_python[parent];
    caller_[call] = outermost ? 0 : innermost_[parent];
  }
}

bool has_python(const CallStacks& stacks) noexcept {
  for (CodeLocationId location = 1; location < stacks.location_count(); ++location)
    if (stacks.location(location).kind == CodeKind::kPython) return true;
  return false;
}

}  // namespace lanescope::samples
