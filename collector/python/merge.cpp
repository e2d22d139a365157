#include "collector/python/merge.h"

#include <algorithm>

namespace lanescope::python {

std::vector<std::uint32_t> merge_calls(std::span<const NativeCall> native, std::span<const PythonCall> python) {
  std::vector<std::uint32_t> merged;
  const auto is_loop = [](const NativeCall& call) { return call.is_loop; };
  const auto is_entry = [](const PythonCall& call) { return call.is_entry; };
  const auto loops = std::count_if(native.begin(), native.end(), is_loop);
  const auto entries = std::count_if(python.begin(), python.end(), is_entry);
  auto next = python.begin();
  if (loops == entries || python.empty()) {
    for (const NativeCall& call : native) {
      if (!call.is_loop || python.empty()) {
        merged.push_back(call.location);
        continue;
      }
      for (bool is_last = false; !is_last && next != python.end(); ++next) {
        merged.push_back(next->location);
        is_last = next->is_entry;
      }
    }
    return merged;
  }
  const auto innermost = std::find_if(native.begin(), native.end(), is_loop);
  const auto outermost = std::find_if(native.rbegin(), native.rend(), is_loop).base();
  for (auto call = native.begin(); call != innermost; ++call) merged.push_back(call->location);
  for (const PythonCall& call : python) merged.push_back(call.location);
  if (loops > 0)
    for (auto call = outermost; call != native.end(); ++call) merged.push_back(call->location);
  return merged;
}

}  // namespace lanescope::python
