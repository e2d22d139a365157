// Collectives of several ranks: which of their kernels form one collective, and how long each waited in it for the last rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/types.h"
#include "rank_work.h"

namespace lanescope::analysis {

// A collective ends on all ranks at once, as soon as the last rank has come and the data has been moved. So the kernel of the rank that comes last is
// the shortest: it is only the transfer. The time by which the kernels of the other ranks take longer, from their start on, is waiting.
struct MatchedCollectives {
  struct Member {
    std::uint32_t rank = 0;
    std::uint32_t kernel = 0;  // of the rank's communication_kernels
    Nanoseconds waited = 0;
  };
  struct Collective {
    Nanoseconds end = 0;      // by the clock of the first rank
    std::uint32_t first = 0;  // the first of its members is that of the rank that came last; if there are several such, the first of them
    std::uint32_t count = 0;
  };
  [[nodiscard]] std::span<const Member> of(const Collective& collective) const { return {members.data() + collective.first, collective.count}; }

  std::vector<Member> members;
  std::vector<Collective> collectives;  // by their ends
};

// The kernels of one name are matched by their order if ranks have equally many of them, otherwise by their ends. Kernels whose ends do not agree,
// after the difference of the ranks' clocks is removed, are no collective of these ranks and do not count; neither do sends and receives. O(n log n) of
// communication kernels.
[[nodiscard]] MatchedCollectives match_collectives(std::span<const RankWork> ranks);

}  // namespace lanescope::analysis
