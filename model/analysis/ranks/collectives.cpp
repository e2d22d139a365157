#include "collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/trace/median.h"

namespace lanescope::analysis {
namespace {

// Ends of one collective differ by what its blocks take to notice, and by how exactly clocks are known.
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
      if (end - first > 1) take_in({first, end});
      first = end;
    }
  }

  MatchedCollectives take() {
    std::stable_sort(matched_.collectives.begin(), matched_.collectives.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    return std::move(matched_);
  }

 private:
  void take_in(std::span<Kernel> collective) {
    const auto last =
        std::min_element(collective.begin(), collective.end(), [](const Kernel& a, const Kernel& b) { return a.range.length() < b.range.length(); });
    std::rotate(collective.begin(), last, last + 1);
    const Kernel& latecomer = collective.front();
    matched_.collectives.push_back({latecomer.end(), static_cast<std::uint32_t>(matched_.members.size()), static_cast<std::uint32_t>(collective.size())});
    for (const Kernel& kernel : collective) matched_.members.push_back({kernel.rank, kernel.kernel, kernel.range.length() - latecomer.range.length()});
  }

  MatchedCollectives matched_;
};

// By what the clock of a rank is ahead of the first's, where their kernels end at the same times but for that: what most ends differ by.
// Where they differ now by this and now by that, the kernels are of other collectives, and nothing is known of the clocks.
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
  Matching matching;
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
