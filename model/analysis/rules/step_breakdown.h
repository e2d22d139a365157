// What the time of NVTX ranges consists of, on the CPU and on the GPU, summed by their families.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

#include "model/analysis/families.h"
#include "model/analysis/rule.h"
#include "model/file/result.h"

namespace lanescope::analysis {

// Sums over the ranges of a family, and over GPU work, that start within the time that counts. GPU work belongs to the ranges in which it was enqueued.
// Ranges that start while the loop of their process warms up are left out, unless a part of the trace was asked for.
struct FamilySum {
  std::uint64_t ranges = 0;
  std::uint64_t operations = 0;
  Nanoseconds cpu = 0;
  Nanoseconds projected = 0;  // from the first operation of each range to its last
  Nanoseconds idle = 0;       // the idle part of that; with several GPUs, of the one that worked most in it
  Nanoseconds communication = 0;
};

// About this many ranges are processed at once. They take 40 bytes each, and 24 more until their idle time is known; what exceeds that is in a temporary
// file (idle_inside.h): memory does not grow with the trace.
inline constexpr std::size_t kRangesAtOnce = 1u << 20;

// The ranges of one family in the NVTX domains with one name: those of another domain are something else. The name is the trace's.
using RangesOfDomain = std::pair<FamilyId, std::string_view>;

using SumsOfRanges = std::deque<std::pair<RangesOfDomain, FamilySum>>;

// Ordered by the ranges. O(ranges · log(ranges) + operations · turns), where a turn skips the segments of operations that none of its ranges can have enqueued.
// Fails if the temporary file can't be read any more.
[[nodiscard]] Result<SumsOfRanges> sum_steps(const RuleContext& context, Families& families, std::size_t ranges_at_once = kRangesAtOnce);

}  // namespace lanescope::analysis
