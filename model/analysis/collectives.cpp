#include "collectives.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/trace/median.h"

namespace lanescope::analysis {
namespace {

// Ends of one collective differ by what its blocks take to notice, and by how exactly clocks are known.
constexpr Nanoseconds kEndsDiffer = 50'000;

struct Kernel {
  std::size_t rank = 0;
  TimeRange range;         // by its rank's clock
  Nanoseconds offset = 0;  // of that clock
  [[nodiscard]] Nanoseconds end() const noexcept { return range.end - offset; }
};

class Matching {
 public:
  explicit Matching(std::size_t ranks) : waits_(ranks) {}

  // Kernels that may be one collective, one a rank: those whose ends agree are.
  void add(std::vector<Kernel> kernels) {
    std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.end() < b.end(); });
    for (auto first = kernels.begin(); first != kernels.end();) {
      auto end = first + 1;
      Nanoseconds shortest = first->range.length();
      std::set<std::size_t> ranks{first->rank};
      while (end != kernels.end() && end->end() - first->end() <= kEndsDiffer + std::min(shortest, end->range.length()) && ranks.insert(end->rank).second) {
        shortest = std::min(shortest, end->range.length());
        ++end;
      }
      if (end - first > 1) count({first, end});
      first = end;
    }
  }

  std::vector<RankWait> take() { return std::move(waits_); }

 private:
  void count(std::span<const Kernel> collective) {
    const auto last =
        std::min_element(collective.begin(), collective.end(), [](const Kernel& a, const Kernel& b) { return a.range.length() < b.range.length(); });
    RankWait& latecomer = waits_[last->rank];
    ++latecomer.last;
    for (const Kernel& kernel : collective) {
      const Nanoseconds waited = kernel.range.length() - last->range.length();
      ++waits_[kernel.rank].matched;
      waits_[kernel.rank].waited += waited;
      latecomer.caused += waited;
      if (waited <= latecomer.longest.length()) continue;
      latecomer.longest = {kernel.range.begin, kernel.range.begin + waited};
      latecomer.longest_waiter = kernel.rank;
    }
  }

  std::vector<RankWait> waits_;
};

// By what the clock of a rank is ahead of the first's, where their kernels end at the same times but for that: what most ends differ by.
// Where they differ now by this and now by that, the kernels are of other collectives, and nothing is known of the clocks.
Nanoseconds clock_offset(std::span<const TimeRange> first, std::span<const TimeRange> other) {
  std::vector<Nanoseconds> differences;
  for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(other[i].end - first[i].end);
  const Nanoseconds offset = median(differences);
  const auto agree =
      std::count_if(differences.begin(), differences.end(), [&](Nanoseconds difference) { return std::abs(difference - offset) <= kEndsDiffer; });
  const bool most = 2 * static_cast<std::size_t>(agree) > differences.size();
  return most && std::abs(offset) > kEndsDiffer ? offset : 0;  // clocks of one machine agree
}

}  // namespace

std::vector<RankWait> match_collectives(std::span<const RankWork> ranks) {
  std::map<NameId, std::map<std::size_t, std::vector<TimeRange>>> by_name;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const CommunicationKernel& kernel : *ranks[rank].communication_kernels) by_name[kernel.name][rank].push_back(kernel.range);
  Matching matching(ranks.size());
  for (const auto& [name, by_rank] : by_name) {
    const std::vector<TimeRange>& first = by_rank.begin()->second;
    const bool equally_many = std::all_of(by_rank.begin(), by_rank.end(), [&](const auto& of_rank) { return of_rank.second.size() == first.size(); });
    if (!equally_many) {
      std::vector<Kernel> all;
      for (const auto& [rank, ranges] : by_rank)
        for (const TimeRange& range : ranges) all.push_back({rank, range});
      matching.add(std::move(all));
      continue;
    }
    std::map<std::size_t, Nanoseconds> offsets;
    for (const auto& [rank, ranges] : by_rank) offsets[rank] = clock_offset(first, ranges);
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::vector<Kernel> collective;
      for (const auto& [rank, ranges] : by_rank) collective.push_back({rank, ranges[i], offsets[rank]});
      matching.add(std::move(collective));
    }
  }
  return matching.take();
}

}  // namespace lanescope::analysis
