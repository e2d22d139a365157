#include "collectives.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/trace/median.h"

namespace lanescope::analysis {
namespace {

// Ends of one collective differ by the time that its blocks take to notice the end, and by the accuracy of the clocks.
constexpr Nanoseconds kEndsDiffer = 50'000;

struct Kernel {
  std::uint32_t rank = 0;
  std::uint32_t kernel = 0;  // of the rank
  TimeRange range;           // by its rank's clock
  Nanoseconds offset = 0;    // of that clock
  [[nodiscard]] Nanoseconds end() const noexcept { return range.end - offset; }
};

class Matching {
 public:
  explicit Matching(std::size_t ranks) : group_of_rank_(ranks, 0) {}

  // Kernels that may be one collective, one a rank: those whose ends agree form a collective.
  void add(std::vector<Kernel> kernels) {
    std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.end() < b.end(); });
    for (auto first = kernels.begin(); first != kernels.end();) {
      auto end = first + 1;
      Nanoseconds shortest = first->range.length();
      ++groups_;
      add_to_group(first->rank);
      while (end != kernels.end() && end->end() - first->end() <= kEndsDiffer + std::min(shortest, end->range.length()) && add_to_group(end->rank)) {
        shortest = std::min(shortest, end->range.length());
        ++end;
      }
      if (end - first > 1) take_in({first, end});
      first = end;
    }
  }

  MatchedCollectives take() {
    std::stable_sort(matched_.collectives.begin(), matched_.collectives.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    return std::move(matched_);
  }

 private:
  // Returns false if the rank has a kernel in the group already.
  bool add_to_group(std::uint32_t rank) noexcept { return std::exchange(group_of_rank_[rank], groups_) != groups_; }

  void take_in(std::span<Kernel> collective) {
    const auto last =
        std::min_element(collective.begin(), collective.end(), [](const Kernel& a, const Kernel& b) { return a.range.length() < b.range.length(); });
    std::rotate(collective.begin(), last, last + 1);
    const Kernel& latecomer = collective.front();
    matched_.collectives.push_back({latecomer.end(), static_cast<std::uint32_t>(matched_.members.size()), static_cast<std::uint32_t>(collective.size())});
    for (const Kernel& kernel : collective) matched_.members.push_back({kernel.rank, kernel.kernel, kernel.range.length() - latecomer.range.length()});
  }

  MatchedCollectives matched_;
  std::vector<std::uint64_t> group_of_rank_;  // the number of the last group of kernels that each has been in
  std::uint64_t groups_ = 0;
};

// By how much the clock of a rank is ahead of the first rank's, if apart from that their kernels end at the same times: the difference of most ends. If
// the differences vary, the kernels belong to different collectives, and nothing is known of the clocks.
Nanoseconds clock_offset(std::span<const Kernel> first, std::span<const Kernel> other) {
  std::vector<Nanoseconds> differences;
  for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(other[i].range.end - first[i].range.end);
  const Nanoseconds offset = median(differences);
  const auto agree =
      std::count_if(differences.begin(), differences.end(), [&](Nanoseconds difference) { return std::abs(difference - offset) <= kEndsDiffer; });
  const bool most = 2 * static_cast<std::size_t>(agree) > differences.size();
  return most && std::abs(offset) > kEndsDiffer ? offset : 0;  // clocks of one machine agree
}

}  // namespace

MatchedCollectives match_collectives(std::span<const RankWork> ranks) {
  std::map<NameId, std::map<std::size_t, std::vector<Kernel>>> by_name;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<CommunicationKernel>& kernels = *ranks[rank].communication_kernels;
    for (std::uint32_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].is_collective) by_name[kernels[i].name][rank].push_back({rank, i, kernels[i].range});
  }
  Matching matching(ranks.size());
  for (const auto& [name, by_rank] : by_name) {
    const std::vector<Kernel>& first = by_rank.begin()->second;
    const bool equally_many = std::all_of(by_rank.begin(), by_rank.end(), [&](const auto& of_rank) { return of_rank.second.size() == first.size(); });
    if (!equally_many) {
      std::vector<Kernel> all;
      for (const auto& [rank, kernels] : by_rank) all.insert(all.end(), kernels.begin(), kernels.end());
      matching.add(std::move(all));
      continue;
    }
    std::map<std::size_t, Nanoseconds> offsets;
    for (const auto& [rank, kernels] : by_rank) offsets[rank] = clock_offset(first, kernels);
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::vector<Kernel> collective;
      for (const auto& [rank, kernels] : by_rank) {
        collective.push_back(kernels[i]);
        collective.back().offset = offsets[rank];
      }
      matching.add(std::move(collective));
    }
  }
  return matching.take();
}

}  // namespace lanescope::analysis
