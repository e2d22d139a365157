#include "programs.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/trace/combining/parts.h"

namespace lanescope::analysis {
namespace {

using Numbers = std::vector<std::size_t>;

// Ranks that work at the same time, or at the same time as others of their group. Requires: none is empty.
std::vector<Numbers> by_time(std::span<const RankWork> ranks, Numbers numbers) {
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) { return ranks[a].extent.begin < ranks[b].extent.begin; });
  std::vector<Numbers> groups;
  Nanoseconds end = 0;
  for (const std::size_t number : numbers) {
    const TimeRange& time = ranks[number].extent;
    if (groups.empty() || time.begin >= end) {
      groups.emplace_back();
      end = time.end;
    }
    groups.back().push_back(number);
    end = std::max(end, time.end);
  }
  return groups;
}

// True if two processes have the same rank in their jobs: then these are different jobs.
bool has_rank_twice(const Trace& trace, std::span<const RankWork> ranks, const Numbers& numbers) {
  std::map<std::uint32_t, ProcessId> known;
  return std::any_of(numbers.begin(), numbers.end(), [&](std::size_t number) {
    const ProcessId process = ranks[number].process;
    const std::optional<std::uint32_t> rank = trace.processes()[process].place.rank;
    return rank && known.try_emplace(*rank, process).first->second != process;
  });
}

// Ranks whose processes the same process started.
std::vector<Numbers> by_parent(const Trace& trace, std::span<const RankWork> ranks, const Numbers& numbers) {
  std::map<std::pair<const TracePart*, std::uint32_t>, Numbers> groups;
  for (const std::size_t number : numbers) {
    const ProcessId process = ranks[number].process;
    groups[{part_of_process(trace, process), trace.processes()[process].parent_pid}].push_back(number);
  }
  std::vector<Numbers> found;
  for (auto& [parent, group] : groups) found.push_back(std::move(group));
  return found;
}

}  // namespace

std::vector<RanksOfProgram> find_programs(const Trace& trace, const Loop& loop, std::span<const RankWork> ranks) {
  std::map<FamilyId, Numbers> by_family;
  for (std::size_t number = 0; number < ranks.size(); ++number)
    if (!loop.known() || loop.of(ranks[number].process)) by_family[loop.family(ranks[number].process)].push_back(number);
  std::vector<RanksOfProgram> programs;
  for (auto& [family, numbers] : by_family) {
    const auto groups = loop.known() ? by_time(ranks, std::move(numbers)) : std::vector<Numbers>{std::move(numbers)};
    for (const Numbers& group : groups)
      for (Numbers& of_program : has_rank_twice(trace, ranks, group) ? by_parent(trace, ranks, group) : std::vector<Numbers>{group}) {
        std::sort(of_program.begin(), of_program.end());
        programs.push_back({family, std::move(of_program), {}});
      }
  }
  std::stable_sort(programs.begin(), programs.end(), [&](const RanksOfProgram& a, const RanksOfProgram& b) {
    return std::pair(a.family != loop.family(), a.ranks.front()) < std::pair(b.family != loop.family(), b.ranks.front());
  });
  return programs;
}

}  // namespace lanescope::analysis
