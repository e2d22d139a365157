// Collectives of several ranks: which kernels of theirs are one, and how long each waited in it for the last to come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/types.h"
#include "rank_work.h"

namespace lanescope::analysis {

// A collective ends on all ranks at once, as soon as the last has come and the data has been moved. So the kernel of the rank that comes
// last is the shortest: it is the transfer alone, and what those of the others take longer is waiting.
struct RankWait {
  Nanoseconds waited = 0;     // in its own kernels
  Nanoseconds caused = 0;     // by the others together, in collectives that this rank came last to
  std::uint64_t matched = 0;  // its kernels that were matched with those of others
  std::uint64_t last = 0;     // collectives that it came last to
  TimeRange longest;          // the longest time that another one waited for it: from when that one came to when this one did
  std::size_t longest_waiter = 0;
};

// One for each rank. The kernels of one name are matched by their order where ranks have equally many of them, and else by their ends;
// those whose ends do not agree, once the difference of the ranks' clocks is taken out, are no collective of these ranks and do not count.
// O(n log n) of communication kernels.
[[nodiscard]] std::vector<RankWait> match_collectives(std::span<const RankWork> ranks);

}  // namespace lanescope::analysis
