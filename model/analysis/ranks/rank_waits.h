// How long ranks waited for each other in collectives, how much of that time was lost, and for which rank they waited.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives.h"
#include "model/trace/types.h"
#include "rank_work.h"

namespace lanescope::analysis {

struct RankWait {
  Nanoseconds waited = 0;         // in its own kernels
  Nanoseconds in_waiting = 0;     // the time that it spent so, while no other kernel of its own moved data
  Nanoseconds exposed = 0;        // the part of that time in which its GPU computed nothing: it is lost. The rest was hidden
  Nanoseconds others_waited = 0;  // time that the other ranks together waited in collectives to which this rank came last
  // The exposed time of the other ranks together that originated from this rank. If a rank came last because it had waited itself, its lateness
  // originated from the rank for which it had waited. If it came last because it was in sends and receives, as a stage of a pipeline that waits for
  // another stage, its lateness originated from no rank.
  Nanoseconds caused = 0;
  Nanoseconds passed_on = 0;  // the part of that in collectives to which another rank came last
  std::uint64_t matched = 0;  // number of its kernels that were matched with those of others
  std::uint64_t last = 0;     // number of collectives to which it came last
  TimeRange longest;          // the longest exposed wait that originated from it: from the arrival of another rank to that of the last one
};

// A kernel that waited, and the part of its waiting in which its GPU computed nothing.
struct KernelWait {
  EventRef kernel;
  Nanoseconds exposed = 0;
  std::uint32_t origin = kNone;  // the rank from which most of that originated; kNone: no rank
};

// What ranks did in collectives to which another rank came last: a square matrix.
class LateBeside {
 public:
  struct Share {
    Nanoseconds longest = 0;  // sum over collectives of the longest wait of any rank
    Nanoseconds late = 0;     // by how much less than that this rank waited: it came late as well
  };
  static constexpr std::size_t kMostRanks = 512;

  LateBeside() = default;
  // For ranks 0 to `ranks` - 1; it stays empty if there are more than kMostRanks.
  explicit LateBeside(std::size_t ranks);
  // Adds a collective to which `last` came last. Requires: it has both ranks, or is empty.
  void add(std::size_t last, std::size_t other, Share share);
  // Zero if it is empty. O(1). Requires: it has both ranks, or is empty.
  [[nodiscard]] Share of(std::size_t last, std::size_t other) const;

 private:
  std::size_t ranks_ = 0;      // 0 if it is empty
  std::vector<Share> shares_;  // of ranks_ x ranks_: by the rank that came last, and then by the other
};

struct RankWaits {
  std::vector<RankWait> ranks;  // one for each rank
  // False if most collectives could not be matched (ranks that were not all recorded, or not at the same time). Then the wait of a rank is an upper
  // bound: the time by which its collectives take longer than those of the rank that communicates least. Nothing is known of single kernels. If the
  // ranks were recorded for different lengths of time, nothing is known at all.
  bool are_matched = true;
  std::vector<KernelWait> kernels;  // by kernel
  LateBeside beside;
};

// How long a rank, by its number, computed in a time of its own clock. The times of each rank must ascend.
using ComputedWithin = std::function<Nanoseconds(std::size_t rank, TimeRange time)>;

// How ranks waited, by their positions in `ranks`. The ranks must belong to one program, and their clocks must agree except for constant differences
// between their hosts. `computed` is asked for each rank's waits, and for its sends and receives. The second form computes this from the trace, which
// has the ranks. O(n log n) of communication kernels.
[[nodiscard]] RankWaits find_rank_waits(std::span<const RankWork> ranks, const ComputedWithin& computed);
[[nodiscard]] RankWaits find_rank_waits(const Trace& trace, std::span<const RankWork> ranks);

}  // namespace lanescope::analysis
