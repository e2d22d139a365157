// When the kernels of collectives ended, by which clocks are set to each other. Internal to model/trace.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

// When the kernels of a rank's collectives ended, by communicator and in their order; none of one whose kernel is not known.
using CollectiveEnds = std::map<std::string, std::vector<std::optional<Nanoseconds>>>;

// Of the first process of a trace that has each communicator: its others have the same clock. The kernel of a collective is the one that was
// launched last in NCCL's range of it, or else in the next end of a group of the same thread. Communicators count that begin within the recording:
// of others nobody knows how many collectives came before. O(n log n) of NCCL's ranges and of the calls within them. Asked to stop, it returns
// what there is.
[[nodiscard]] CollectiveEnds collective_ends(const Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
