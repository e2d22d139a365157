#include "rank_waits.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "idle/gpu_operations.h"

namespace lanescope::analysis {
namespace {

// Limits. If one wait originates from more ranks than these, the rest counts for the rank that came last. So does a wait after the search for origins
// took this many steps a kernel in all. (The collectives of tensor parallel groups between two of data parallel ones are looked at once or twice for
// each rank.)
constexpr std::size_t kMostOrigins = 8;
constexpr std::size_t kMostStepsOfKernel = 64;

// The waiting in a kernel of a rank that did not come last.
struct RankInWait {
  TimeRange range;  // from the kernel's start on
  Nanoseconds in_waiting = 0;
  Nanoseconds exposed = 0;
  std::uint32_t origin = kNone;  // the rank from which most of it originated
};

// How long a rank was in sends and receives while its GPU computed nothing: there it waits for another rank, or moves data, and is not late because of
// itself.
class InTransfers {
 public:
  InTransfers(const RankWork& rank, const std::function<Nanoseconds(TimeRange)>& computed) {
    Nanoseconds until = std::numeric_limits<Nanoseconds>::min(), sum = 0;
    for (const CommunicationKernel& kernel : *rank.communication_kernels) {
      const TimeRange further{std::max(until, kernel.range.begin), kernel.range.end};
      if (kernel.is_collective || further.end <= further.begin) continue;
      until = further.end;
      sum += further.length() - computed(further);
      ends_.push_back({further.end, sum});
    }
  }
  // Time in those that ended before t. O(log n).
  [[nodiscard]] Nanoseconds before(Nanoseconds t) const {
    const auto behind = std::upper_bound(ends_.begin(), ends_.end(), t, [](Nanoseconds time, const End& end) { return time < end.time; });
    return behind == ends_.begin() ? 0 : std::prev(behind)->sum;
  }

 private:
  struct End {
    Nanoseconds time = 0;
    Nanoseconds sum = 0;
  };
  std::vector<End> ends_;  // in ascending order
};

// The waits of a rank by its kernels; empty ranges for kernels that did not wait.
std::vector<RankInWait> waits_of(const RankWork& rank, const std::vector<Nanoseconds>& waited) {
  std::vector<RankInWait> waits(waited.size());
  for (std::size_t i = 0; i < waited.size(); ++i) {
    const Nanoseconds begin = (*rank.communication_kernels)[i].range.begin;
    waits[i].range = {begin, begin + waited[i]};
  }
  return waits;
}

// The times at which a rank's communication kernels did something other than waiting, as far as is known.
std::vector<TimeRange> transfers_of(const RankWork& rank, std::span<const RankInWait> waits) {
  std::vector<TimeRange> all;
  for (std::size_t i = 0; i < waits.size(); ++i) all.push_back({waits[i].range.end, (*rank.communication_kernels)[i].range.end});
  std::sort(all.begin(), all.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  std::vector<TimeRange> merged;
  for (const TimeRange& one : all)
    if (merged.empty() || one.begin > merged.back().end)
      merged.push_back(one);
    else
      merged.back().end = std::max(merged.back().end, one.end);
  return merged;
}

// Fills in how long waits last, with no moment counted twice, and how much of that time nothing was computed. Requires: waits by start.
void measure(std::span<const TimeRange> transfers, std::vector<RankInWait>& waits, const std::function<Nanoseconds(TimeRange)>& computed) {
  Nanoseconds at = std::numeric_limits<Nanoseconds>::min();
  auto transfer = transfers.begin();
  for (RankInWait& wait : waits) {
    at = std::max(at, wait.range.begin);
    while (at < wait.range.end) {
      while (transfer != transfers.end() && transfer->end <= at) ++transfer;
      const Nanoseconds end = transfer == transfers.end() ? wait.range.end : std::min(wait.range.end, std::max(at, transfer->begin));
      if (end > at) {
        wait.in_waiting += end - at;
        wait.exposed += end - at - computed({at, end});
      }
      at = end < wait.range.end ? std::min(wait.range.end, transfer->end) : end;
    }
  }
}

using Member = MatchedCollectives::Member;

// Finds the ranks from which the waiting for the rank that came last originated.
class Origins {
 public:
  Origins(std::span<const std::vector<RankInWait>> waits, std::span<const InTransfers> transfers, std::size_t kernels)
      : waits_(waits), transfers_(transfers), met_(waits.size()), steps_left_(kMostStepsOfKernel * (kernels + 1'000)) {}

  struct Share {
    std::uint32_t rank = 0;
    Nanoseconds time = 0;  // part of the exposed time of the wait
  };

  // For two members of a collective, after the earlier collectives were passed to meet(). Since they last met, the last one fell behind the other by
  // its own lateness, plus the time that it lost in waits for others and in sends and receives, minus the time that the other one lost in these.
  // O(collectives of both since then). Empty if all of it was lost in sends and receives, because the rank from which that originated is not known.
  [[nodiscard]] std::vector<Share> of(const Member& last, const Member& waiter) {
    const std::vector<Met>& by_last = met_[last.rank];
    const std::vector<Met>& by_waiter = met_[waiter.rank];
    std::size_t i = by_last.size(), j = by_waiter.size();
    Nanoseconds lost = 0, other_lost = 0;
    std::vector<Share> began;
    while (i > 0 && (j == 0 || by_last[i - 1].collective != by_waiter[j - 1].collective)) {
      if (steps_left_ == 0) return {{last.rank, wait_of(waiter).exposed}};
      --steps_left_;
      if (j > 0 && by_waiter[j - 1].collective > by_last[i - 1].collective) {
        other_lost += lost_before(waiter, by_waiter[--j]);
        continue;
      }
      const Met& met = by_last[--i];
      const Nanoseconds lost_there = lost_before(last, met);
      if (lost_there == 0) continue;
      lost += lost_there;
      for (std::uint32_t each = 0; each < met.shares; ++each) add(began, shares_[met.first_share + each]);
    }
    for (; i == 0 && j > 0 && steps_left_ > 0; --j, --steps_left_) other_lost += lost_before(waiter, by_waiter[j - 1]);
    const Nanoseconds exposed = wait_of(waiter).exposed, passed = std::clamp<Nanoseconds>(lost - other_lost, 0, waiter.waited);
    const Nanoseconds last_met = i > 0 ? end_of_wait(last.rank, by_last[i - 1]) : kEver,
                      waiter_met = j > 0 ? end_of_wait(waiter.rank, by_waiter[j - 1]) : kEver;
    const Nanoseconds in_transfers = std::clamp<Nanoseconds>(transferred(last, last_met) - transferred(waiter, waiter_met), 0, waiter.waited - passed);
    std::vector<Share> shares;
    Nanoseconds rest =
        exposed - static_cast<Nanoseconds>(static_cast<double>(exposed) * static_cast<double>(in_transfers) / static_cast<double>(waiter.waited));
    std::sort(began.begin(), began.end(), [](const Share& a, const Share& b) { return a.time > b.time; });
    for (std::size_t each = 0; each < std::min(began.size(), kMostOrigins); ++each) {
      if (began[each].rank == waiter.rank || began[each].rank == last.rank) continue;  // nobody waits for itself
      const double part = static_cast<double>(passed) / static_cast<double>(waiter.waited) * static_cast<double>(began[each].time) / static_cast<double>(lost);
      const auto time = static_cast<Nanoseconds>(static_cast<double>(exposed) * part);
      if (time == 0) continue;
      shares.push_back({began[each].rank, time});
      rest -= time;
    }
    if (rest > 0) shares.push_back({last.rank, rest});
    return shares;
  }

  // Must be called for each member of a collective after all members were asked for, in the order of collectives.
  void meet(std::uint32_t collective, const Member& member, std::span<const Share> began) {
    met_[member.rank].push_back({collective, member.kernel, static_cast<std::uint32_t>(shares_.size()), static_cast<std::uint32_t>(began.size())});
    shares_.insert(shares_.end(), began.begin(), began.end());
  }

 private:
  struct Met {
    std::uint32_t collective;
    std::uint32_t kernel;
    std::uint32_t first_share;
    std::uint32_t shares;
  };
  [[nodiscard]] const RankInWait& wait_of(const Member& member) const { return waits_[member.rank][member.kernel]; }
  // The time that the member's rank lost in an earlier collective, if its wait there ended before it came to this one.
  [[nodiscard]] Nanoseconds lost_before(const Member& member, const Met& met) const {
    const RankInWait& wait = waits_[member.rank][met.kernel];
    return wait.range.end <= wait_of(member).range.begin ? wait.exposed : 0;
  }
  static constexpr Nanoseconds kEver = std::numeric_limits<Nanoseconds>::min();
  [[nodiscard]] Nanoseconds end_of_wait(std::uint32_t rank, const Met& met) const { return waits_[rank][met.kernel].range.end; }
  // The time that a member spent in sends and receives since then.
  [[nodiscard]] Nanoseconds transferred(const Member& member, Nanoseconds since) const {
    const InTransfers& transfers = transfers_[member.rank];
    return transfers.before(wait_of(member).range.begin) - transfers.before(since);
  }
  static void add(std::vector<Share>& shares, const Share& share) {
    const auto found = std::find_if(shares.begin(), shares.end(), [&](const Share& one) { return one.rank == share.rank; });
    if (found != shares.end())
      found->time += share.time;
    else if (shares.size() < 2 * kMostOrigins)
      shares.push_back(share);
  }

  std::span<const std::vector<RankInWait>> waits_;  // of each rank, by its kernels
  std::span<const InTransfers> transfers_;          // of each rank
  std::vector<std::vector<Met>> met_;               // of each rank, in order
  std::vector<Share> shares_;
  std::size_t steps_left_;  // of all searches together
};

void lay_to_origins(const MatchedCollectives& matched, std::span<std::vector<RankInWait>> waits, std::span<const InTransfers> transfers, RankWaits& into) {
  Origins origins(waits, transfers, matched.members.size());
  std::vector<Nanoseconds> longest(waits.size());
  for (std::uint32_t number = 0; number < matched.collectives.size(); ++number) {
    const std::span<const Member> members = matched.of(matched.collectives[number]);
    std::vector<std::vector<Origins::Share>> began(members.size());
    for (std::size_t i = 1; i < members.size(); ++i) {
      RankInWait& wait = waits[members[i].rank][members[i].kernel];
      if (wait.exposed == 0) continue;
      began[i] = origins.of(members.front(), members[i]);
      const auto most = std::max_element(began[i].begin(), began[i].end(), [](const Origins::Share& a, const Origins::Share& b) { return a.time < b.time; });
      Nanoseconds with_none = wait.exposed;
      for (const Origins::Share& share : began[i]) with_none -= share.time;
      if (most != began[i].end() && most->time >= with_none) wait.origin = most->rank;
      for (const Origins::Share& share : began[i]) {
        RankWait& origin = into.ranks[share.rank];
        origin.caused += share.time;
        if (share.rank != members.front().rank) origin.passed_on += share.time;
        if (share.time <= longest[share.rank]) continue;
        longest[share.rank] = share.time;
        origin.longest = wait.range;
      }
    }
    for (std::size_t i = 0; i < members.size(); ++i) origins.meet(number, members[i], began[i]);
  }
}

// Adds what each member of a collective did beside the one that came last.
void add_beside(std::span<const Member> members, LateBeside& into) {
  Nanoseconds longest = 0;
  for (const Member& member : members) longest = std::max(longest, member.waited);
  for (const Member& member : members.subspan(1)) into.add(members.front().rank, member.rank, {longest, longest - member.waited});
}

Nanoseconds in_sends_and_receives(const RankWork& rank) { return rank.communication.total() - rank.collectives.total(); }

// Used if most collectives could not be matched.
void take_totals(std::span<const RankWork> ranks, RankWaits& into) {
  into = {std::vector<RankWait>(ranks.size()), false, {}, {}};
  if (!are_of_like_length(ranks)) return;
  const RankWork* least = nullptr;
  for (const RankWork& rank : ranks)
    if (rank.collective_operations > 0 && (least == nullptr || rank.collectives.total() < least->collectives.total())) least = &rank;
  RankWait& last = into.ranks[static_cast<std::size_t>(least - ranks.data())];
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].collective_operations == 0) continue;
    RankWait& wait = into.ranks[i];
    wait.waited = wait.in_waiting = ranks[i].collectives.total() - least->collectives.total();
    wait.exposed = std::min(wait.waited, ranks[i].communication.total() - ranks[i].communication.beside());
    last.others_waited += wait.waited;
    const Nanoseconds in_transfers = in_sends_and_receives(*least) - in_sends_and_receives(ranks[i]);
    last.caused += std::max<Nanoseconds>(0, wait.exposed - std::max<Nanoseconds>(0, in_transfers));
  }
}

}  // namespace

LateBeside::LateBeside(std::size_t ranks) : ranks_(ranks > kMostRanks ? 0 : ranks), shares_(ranks_ * ranks_) {}

void LateBeside::add(std::size_t last, std::size_t other, Share share) {
  if (shares_.empty()) return;
  Share& sum = shares_[last * ranks_ + other];
  sum.longest += share.longest;
  sum.late += share.late;
}

LateBeside::Share LateBeside::of(std::size_t last, std::size_t other) const { return shares_.empty() ? Share() : shares_[last * ranks_ + other]; }

RankWaits find_rank_waits(std::span<const RankWork> ranks, const ComputedWithin& computed) {
  RankWaits found{std::vector<RankWait>(ranks.size()), true, {}, {}};
  const MatchedCollectives matched = match_collectives(ranks);
  std::uint64_t kernels = 0;
  std::vector<std::vector<Nanoseconds>> waited(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    kernels += ranks[i].collective_operations;
    waited[i].resize(ranks[i].communication_kernels->size());
  }
  if (2 * matched.members.size() < kernels) {
    take_totals(ranks, found);
    return found;
  }
  found.beside = LateBeside(ranks.size());
  for (const MatchedCollectives::Collective& collective : matched.collectives) {
    const auto members = matched.of(collective);
    add_beside(members, found.beside);
    RankWait& last = found.ranks[members.front().rank];
    ++last.last;
    for (const Member& member : members) {
      ++found.ranks[member.rank].matched;
      found.ranks[member.rank].waited += member.waited;
      last.others_waited += member.waited;
      waited[member.rank][member.kernel] = member.waited;
    }
  }
  std::vector<std::vector<RankInWait>> waits(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    waits[i] = waits_of(ranks[i], waited[i]);
    measure(transfers_of(ranks[i], waits[i]), waits[i], [&](TimeRange time) { return computed(i, time); });
    for (std::size_t kernel = 0; kernel < waits[i].size(); ++kernel) {
      found.ranks[i].in_waiting += waits[i][kernel].in_waiting;
      found.ranks[i].exposed += waits[i][kernel].exposed;
    }
  }
  std::vector<InTransfers> transfers;
  for (std::size_t i = 0; i < ranks.size(); ++i) transfers.emplace_back(ranks[i], [&](TimeRange time) { return computed(i, time); });
  lay_to_origins(matched, waits, transfers, found);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t kernel = 0; kernel < waits[i].size(); ++kernel)
      if (const RankInWait& wait = waits[i][kernel]; wait.exposed > 0)
        found.kernels.push_back({(*ranks[i].communication_kernels)[kernel].event, wait.exposed, wait.origin});
  std::sort(found.kernels.begin(), found.kernels.end(), [](const KernelWait& a, const KernelWait& b) { return a.kernel < b.kernel; });
  return found;
}

RankWaits find_rank_waits(const Trace& trace, std::span<const RankWork> ranks) {
  const GpuTracks tracks(trace);
  NameMemo<bool> communicates(trace, is_communication_name);
  std::vector<ComputedTime> computed;
  computed.reserve(ranks.size());
  for (const RankWork& rank : ranks) computed.emplace_back(trace, tracks.of(rank.gpu, rank.process), communicates);
  return find_rank_waits(ranks, [&](std::size_t rank, TimeRange time) { return computed[rank].within(time); });
}

}  // namespace lanescope::analysis
