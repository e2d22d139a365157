// Plots of the page: each is one self-contained <svg> element, with titles that show its values as text under the pointer.
#pragma once

#include <memory>
#include <string>

#include "model/trace/trace.h"
#include "timeline/core/lanes/communication_time.h"

namespace lanescope::report {

// How busy each GPU was over the time, and how much of it only waited in collectives for other ranks, in 200 equal pieces; a line for each of the first
// eight GPUs. Empty if no GPU worked. O(pieces · (lanes + GPUs) · log n).
[[nodiscard]] std::string busy_plot(const std::shared_ptr<const Trace>& trace, const timeline::CommunicationTime& communication, TimeRange time);

// A histogram of the durations of the loop's iterations that NVTX ranges mark, without warm-up. Empty if fewer than two are marked. O(NVTX ranges), and the
// search for the loop.
[[nodiscard]] std::string step_plot(const Trace& trace);

}  // namespace lanescope::report
