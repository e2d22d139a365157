// How often each source line was seen: of samples and backtraces whose code has lines, Python's and that of native code with debug information.
#pragma once

#include <span>
#include <vector>

#include "model/samples/sampled_stacks.h"
#include "model/samples/shown_calls.h"

namespace lanescope::samples {

struct LineWeight {
  NameId file = 0;  // never 0
  std::uint32_t line = 0;
  NameId function = 0;  // that it is of; of several, the one that comes first in the trace
  Weight self;          // of chains whose innermost shown call is at the line
  Weight total;         // of chains that go through it, each counted once, however often they do
};

// Heaviest in itself first, then in all, by count or time as is asked for; of equal ones by file and line. Calls that are not shown count as those
// that called them. O(distinct chains · depth + call nodes of the trace).
[[nodiscard]] std::vector<LineWeight> line_weights(const Trace& trace, std::span<const SampledStack> stacks, CallChoice choice, WeightBy by);

}  // namespace lanescope::samples
