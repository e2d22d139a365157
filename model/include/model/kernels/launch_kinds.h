// The kernels of a trace, grouped by launches with the same properties, to choose which of them to examine more closely.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/trace/details.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// What launches of one kind have in common beside the kernel: grid, block, dynamic shared memory.
using LaunchShape = std::tuple<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::uint32_t>;
[[nodiscard]] inline LaunchShape shape_of(const KernelDetail& launch) {
  return {std::to_array(launch.grid), std::to_array(launch.block), launch.dynamic_shared_memory};
}

// Launches of a kernel in a process with one shape.
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
