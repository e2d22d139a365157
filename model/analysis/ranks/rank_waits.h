// How long ranks waited for each other in collectives, how much of that was time lost, and for whom it was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "collectives.h"
#include "model/trace/types.h"
#include "rank_work.h"

namespace lanescope::analysis {

struct RankWait {
  Nanoseconds waited = 0;         // in its own kernels
  Nanoseconds in_waiting = 0;     // the time that it spent so, while no other kernel of its own moved data
  Nanoseconds exposed = 0;        // of that time, what its GPU computed nothing in: it is lost. The rest was hidden
  Nanoseconds others_waited = 0;  // by the others together, in collectives that this rank came last to
  // The exposed time of the others together that began with this rank: where one came last because it had waited itself, it began with the rank
  // that it had waited for. Where it came last because it was in sends and receives, as a stage of a pipeline that waits for another one, it began with none.
  Nanoseconds caused = 0;
  Nanoseconds passed_on = 0;  // of that, in collectives that another rank came last to
  std::uint64_t matched = 0;  // its kernels that were matched with those of others
  std::uint64_t last = 0;     // collectives that it came last to
  TimeRange longest;          // the longest exposed wait that began with it: from when another one came to when the last did
};

// A kernel that waited, and for how long its GPU computed nothing meanwhile.
struct KernelWait {
  EventRef kernel;
  Nanoseconds exposed = 0;
  std::uint32_t origin = kNone;  // with which of the ranks most of that began; kNone: with none
};

// What ranks did in collectives to which another one came last: a square of numbers, that knows by which numbers its ranks are asked for.
class LateBeside {
 public:
  struct Share {
    Nanoseconds longest = 0;  // the longest wait of any rank in each collective, together
    Nanoseconds late = 0;     // by how much less this one waited than that: it came late as well
  };
  static constexpr std::size_t kMostRanks = 512;

  LateBeside() = default;
  // Of ranks 0 to `ranks` - 1; it stays empty of more than kMostRanks.
  explicit LateBeside(std::size_t ranks);
  // A collective to which `last` came last. Ranks that it does not have are left out.
  void add(std::size_t last, std::size_t other, Share share);
  // From here on, the i-th rank goes by numbers[i]. Requires: a number for each, and none twice.
  void renumber(std::span<const std::size_t> numbers);
  // Nothing of ranks that it does not have. O(log n).
  [[nodiscard]] Share of(std::size_t last, std::size_t other) const;

 private:
  [[nodiscard]] std::optional<std::size_t> place_of(std::size_t last, std::size_t other) const;

  std::map<std::size_t, std::size_t> rows_;  // of each rank, by its number
  std::vector<Share> shares_;                // of rows_.size() x rows_.size(): by the rank that came last, and then by the other
};

struct RankWaits {
  std::vector<RankWait> ranks;  // one for each
  // False where most collectives could not be matched (ranks that were not all recorded, or not at one time). Then a rank waited at most for what its
  // collectives take longer than those of the rank that communicates least, and nothing is known of single kernels. Of ranks that were recorded for times of
  // unlike length, nothing is known at all.
  bool are_matched = true;
  std::vector<KernelWait> kernels;  // by kernel
  LateBeside beside;

  // From here on, the i-th rank goes by numbers[i], of `count` ranks: the others neither waited nor were waited for.
  // Requires: a number below `count` for each, and none twice.
  void renumber(std::span<const std::size_t> numbers, std::size_t count);
};

// For how long a rank, by its number, computed in a time of its own clock. The times of each rank ascend.
using ComputedWithin = std::function<Nanoseconds(std::size_t rank, TimeRange time)>;

// O(n log n) of communication kernels.
[[nodiscard]] RankWaits find_rank_waits(std::span<const RankWork> ranks, const ComputedWithin& computed);
[[nodiscard]] RankWaits find_rank_waits(const Trace& trace, std::span<const RankWork> ranks);

}  // namespace lanescope::analysis
