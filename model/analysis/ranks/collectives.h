// Collectives of several ranks: which kernels of theirs are one, and how long each waited in it for the last to come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/types.h"
#include "rank_work.h"

namespace lanescope::analysis {

// A collective ends on all ranks at once, as soon as the last has come and the data has been moved. So the kernel of the rank that comes
// last is the shortest: it is the transfer alone, and what those of the others take longer, from their begin on, is waiting.
struct MatchedCollectives {
  struct Member {
    std::uint32_t rank = 0;
    std::uint32_t kernel = 0;  // of the rank's communication_kernels
    Nanoseconds waited = 0;
  };
  struct Collective {
    Nanoseconds end = 0;      // by the clock of the first rank
    std::uint32_t first = 0;  // of its members, that of the rank that came last; of several the first
    std::uint32_t count = 0;
  };
  [[nodiscard]] std::span<const Member> of(const Collective& collective) const { return {members.data() + collective.first, collective.count}; }

  std::vector<Member> members;
  std::vector<Collective> collectives;  // by their ends
};

// The kernels of one name are matched by their order where ranks have equally many of them, and else by their ends; those whose ends do not
// agree, once the difference of the ranks' clocks is taken out, are no collective of these ranks and do not count, nor do sends and receives.
// O(n log n) of communication kernels.
[[nodiscard]] MatchedCollectives match_collectives(std::span<const RankWork> ranks);

}  // namespace lanescope::analysis
