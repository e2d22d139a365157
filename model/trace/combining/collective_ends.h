// When the kernels of collectives ended, for aligning clocks. Internal to model/trace.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

// When the kernels of a rank's collectives ended, by communicator and in their order; nothing for a collective whose kernel is not known.
using CollectiveEnds = std::map<std::string, std::vector<std::optional<Nanoseconds>>>;

// Ends of the first process of a trace that has each communicator: the others of the trace have the same clock. The kernel of a collective is the one
// that was launched last in NCCL's range of it, or otherwise in the next end of a group on the same thread. Only communicators that start within the
// recording count: for others the number of earlier collectives is not known. O(n log n) of NCCL's ranges and of the calls within them. If asked to
// stop, it returns what it has.
[[nodiscard]] CollectiveEnds collective_ends(const Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
