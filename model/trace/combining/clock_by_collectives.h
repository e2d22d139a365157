// How the clocks of two recordings relate to each other, by collectives in which both took part. Internal to model/trace.
#pragma once

#include <optional>

#include "collective_ends.h"
#include "model/trace/combining/clock_alignment.h"

namespace lanescope {

// The line with which the ends of collectives coincide, as well as they can: it says by how much the second's clock is off, and how fast it runs.
//
// The line is fitted to medians of windows of 10 s (of quarters in short recordings), by least squares with Huber's weights, as docs/fleets.md says. If
// it does not explain more than the noise of the ends, the result is the median of all, without drift. Returns nothing if fewer than three collectives
// are in common. Collectives are matched by NCCL's id of the communicator and by their number since its start. O(n log n).
[[nodiscard]] std::optional<ClockAlignment> clock_by_collectives(const CollectiveEnds& first, const CollectiveEnds& second);

}  // namespace lanescope
