// The kernels of a trace, grouped by launches with the same properties, to choose which of them to examine more closely.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "model/trace/details.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// Launches of a kernel in a process with one shape: grid, block, dynamic shared memory.
struct LaunchKind {
  ProcessId process = kNone;
  NameId name = 0;             // with its parameters
  KernelDetail detail;         // of `first`
  EventRef first;              // the first launch that is not skipped
  std::uint64_t before = 0;    // launches of the kind before `first`
  std::uint64_t launches = 0;  // all launches of the kind
  Nanoseconds time = 0;        // total time of all launches
  // Number of a typical launch of the kind, by start, from 0: the earliest, except the first, whose duration is among the middle fifth. Another run reaches it
  // early. If that run has more or fewer launches before, this number is still likely to be typical; the launch with the exact median may be the last.
  std::uint64_t typical = 0;
};

// The first `skip` launches, by start, of kernels with chosen names are not taken. The most costly kind first. Launches by a CUDA graph and launches without a
// known shape are left out. O(kernels · log kernels).
struct KernelNameOf {
  std::string_view function;  // without namespaces, template arguments and parameters
  std::string_view mangled;
};
[[nodiscard]] std::vector<LaunchKind> launch_kinds(const Trace& trace, const std::function<bool(const KernelNameOf&)>& is_chosen, std::uint64_t skip);

}  // namespace lanescope::kernels
