// Weights of source lines, from samples and backtraces of code with line information: Python code, and native code with debug information.
#pragma once

#include <span>
#include <vector>

#include "model/samples/sampled_stacks.h"
#include "model/samples/shown_calls.h"

namespace lanescope::samples {

struct LineWeight {
  NameId file = 0;  // never 0
  std::uint32_t line = 0;
  NameId function = 0;  // that contains the line; if there are several, the first in the trace
  Weight self;          // of chains whose innermost shown call is at the line
  Weight total;         // of chains that contain the line, each counted once
};

// Highest self weight first, then highest total, by count or time as `by` says; equal ones by file and line. Calls that are not shown are attributed to their
// callers. O(distinct chains · depth + call nodes of the trace).
[[nodiscard]] std::vector<LineWeight> line_weights(const Trace& trace, std::span<const SampledStack> stacks, CallChoice choice, WeightBy by);

}  // namespace lanescope::samples
