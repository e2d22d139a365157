// Iterations that become longer and longer: internal to rules.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "model/trace/types.h"

namespace lanescope::analysis {

struct IndexRange {
  std::size_t first = 0, end = 0;
};

struct Growth {
  std::size_t tenth = 0;  // how many iterations a tenth has
  Nanoseconds first = 0;  // the median of the first tenth
  Nanoseconds last = 0;   // of the last tenth
};

// Whether times grow in their order: the median of the last tenth exceeds that of the first by a tenth or more, and the rank correlation of times and order
// is beyond chance (one-sided, at 0.001), with and without the last tenth. So a few long ones at the end are no growth. Of equal runs of independent times
// at most one in a thousand grows, whatever their distribution. Nothing for fewer than 30 times. O(n log n).
[[nodiscard]] std::optional<Growth> growth_of(std::span<const Nanoseconds> times);

// The neighbours of an element: itself and up to 20 on either side.
[[nodiscard]] IndexRange neighbours_of(std::size_t place, std::size_t count) noexcept;

}  // namespace lanescope::analysis
