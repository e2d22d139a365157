// How far a trace is to be shifted in time so that its loop runs beside that of another trace.
#pragma once

#include <optional>

#include "model/trace/trace.h"

namespace lanescope::analysis {

// The shift of the second trace, in ns, with which an iteration of both loops begins at the same time: the first that warms up in neither, counted from the
// first iteration that a trace has whole. Loops of both are of one family of NVTX ranges, as trace_diff.h chooses it. If a trace has several processes, the one
// counts whose iteration begins first. If no range repeats in both, it is GPU work that does (repeating_work.h): its first occurrence after warm-up. Nothing if
// neither repeats in both. O(NVTX ranges and GPU work of both).
[[nodiscard]] std::optional<Nanoseconds> shift_by_loop(const Trace& first, const Trace& second);

}  // namespace lanescope::analysis
