// The kernels of a trace by what their launches have in common: which of them to look at more closely, and where.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "model/trace/details.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// Launches of a kernel of a process in one shape: grid, block, dynamic shared memory.
struct LaunchKind {
  ProcessId process = kNone;
  NameId name = 0;             // with its parameters
  KernelDetail detail;         // of the first of them
  EventRef first;              // the first of those that are chosen
  std::uint64_t before = 0;    // launches of the kind that come before it
  std::uint64_t launches = 0;  // all of them
  Nanoseconds time = 0;        // that these take together
  // Of them, by start, from 0: the earliest behind the first whose duration is among the middle fifth. Another run comes to it soon, and where it launches
  // some more or fewer before, the one of this number is as likely to be typical; the one of exactly the median may come last of all.
  std::uint64_t typical = 0;
};

// Of the launches of kernels whose names are chosen the first `skip` are not, by start. The most costly kind first. What a CUDA graph
// launched is left out, and so are launches of which the trace does not know the shape. O(kernels · log kernels).
struct KernelNameOf {
  std::string_view function;  // without namespaces, template arguments and parameters
  std::string_view mangled;
};
[[nodiscard]] std::vector<LaunchKind> launch_kinds(const Trace& trace, const std::function<bool(const KernelNameOf&)>& is_chosen, std::uint64_t skip);

}  // namespace lanescope::kernels
