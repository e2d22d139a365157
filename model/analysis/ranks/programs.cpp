#include "programs.h"

#include <algorithm>
#include <cmath>
#include <map>
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

// What started a process, in one recording.
using Parent = std::pair<const TracePart*, std::uint32_t>;

std::map<Parent, Numbers> by_parent(const Trace& trace, std::span<const RankWork> ranks, const Numbers& numbers) {
  std::map<Parent, Numbers> groups;
  for (const std::size_t number : numbers) {
    const ProcessId process = ranks[number].process;
    groups[{part_of_process(trace, process), trace.processes()[process].parent_pid}].push_back(number);
  }
  return groups;
}

// The ends of the communication kernels of some ranks, by name, in ascending order; those that agree count once.
using EndsByName = std::map<NameId, std::vector<Nanoseconds>>;

constexpr Nanoseconds kSameEnd = 50'000;  // as in match_collectives

EndsByName ends_of_communication(std::span<const RankWork> ranks, const Numbers& numbers) {
  EndsByName all;
  for (const std::size_t number : numbers)
    for (const CommunicationKernel& kernel : *ranks[number].communication_kernels) all[kernel.name].push_back(kernel.range.end);
  for (auto& [name, ends] : all) {
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end(), [](Nanoseconds a, Nanoseconds b) { return b - a <= kSameEnd; }), ends.end());
  }
  return all;
}

std::size_t count(const EndsByName& all) {
  std::size_t count = 0;
  for (const auto& [name, ends] : all) count += ends.size();
  return count;
}

// True if more of these ends coincide than by chance: the ranks meet.
bool coincide(const std::vector<Nanoseconds>& a, const std::vector<Nanoseconds>& b) {
  const TimeRange both{std::max(a.front(), b.front()) - kSameEnd, std::min(a.back(), b.back()) + kSameEnd};
  if (both.empty()) return false;
  double of_a = 0, of_b = 0, seen = 0;
  for (const Nanoseconds end : b) of_b += both.begin <= end && end < both.end ? 1 : 0;
  for (const Nanoseconds end : a) {
    if (end < both.begin || end >= both.end) continue;
    ++of_a;
    const auto next = std::lower_bound(b.begin(), b.end(), end - kSameEnd);
    if (next != b.end() && *next <= end + kSameEnd) ++seen;
  }
  const double by_chance = of_a * std::min(1.0, of_b * 2 * static_cast<double>(kSameEnd) / static_cast<double>(both.length()));
  constexpr double kStandardErrors = 3, kSeldom = 2;
  return seen > by_chance + kStandardErrors * std::sqrt(by_chance) + kSeldom;
}

bool meet(const EndsByName& a, const EndsByName& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& of_name) {
    const auto other = b.find(of_name.first);
    return other != b.end() && coincide(of_name.second, other->second);
  });
}

// For ranks whose numbers in their jobs are not known. Those that one process started are of one program, and so are those that meet: their
// communication ends at the same times. Where too few kernels tell, or some were recorded elsewhere, by another clock, all are taken to be of one program.
std::vector<Numbers> by_parent_and_meeting(const Trace& trace, std::span<const RankWork> ranks, const Numbers& numbers) {
  constexpr std::size_t kMostParents = 64;  // each is compared with each
  constexpr std::size_t kLeastKernels = 5;
  struct Started {
    const TracePart* part = nullptr;
    Numbers numbers;
    EndsByName ends;
    std::size_t program = 0;
  };
  std::vector<Started> all;
  for (auto& [parent, group] : by_parent(trace, ranks, numbers)) {
    EndsByName ends = ends_of_communication(ranks, group);
    if (count(ends) < kLeastKernels || (!all.empty() && parent.first != all.front().part)) return {numbers};
    all.push_back({parent.first, std::move(group), std::move(ends), all.size()});
    if (all.size() > kMostParents) return {numbers};
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const std::size_t joined = all[i].program; joined != all[j].program && meet(all[i].ends, all[j].ends))
        for (Started& each : all)
          if (each.program == joined) each.program = all[j].program;
  std::map<std::size_t, Numbers> programs;
  for (const Started& each : all) programs[each.program].insert(programs[each.program].end(), each.numbers.begin(), each.numbers.end());
  std::vector<Numbers> found;
  for (auto& [program, of_program] : programs) found.push_back(std::move(of_program));
  return found;
}

// The programs of ranks that work at the same time.
std::vector<Numbers> programs_of(const Trace& trace, std::span<const RankWork> ranks, const Numbers& numbers) {
  const auto has_rank = [&](std::size_t number) { return trace.processes()[ranks[number].process].place.rank.has_value(); };
  if (std::none_of(numbers.begin(), numbers.end(), has_rank)) return by_parent_and_meeting(trace, ranks, numbers);
  if (!has_rank_twice(trace, ranks, numbers)) return {numbers};
  std::vector<Numbers> found;
  for (auto& [parent, group] : by_parent(trace, ranks, numbers)) found.push_back(std::move(group));
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
      for (Numbers& of_program : programs_of(trace, ranks, group)) {
        std::sort(of_program.begin(), of_program.end());
        programs.push_back({family, std::move(of_program), {}, 0});
      }
  }
  std::stable_sort(programs.begin(), programs.end(), [&](const RanksOfProgram& a, const RanksOfProgram& b) {
    return std::pair(a.family != loop.family(), a.ranks.front()) < std::pair(b.family != loop.family(), b.ranks.front());
  });
  return programs;
}

}  // namespace lanescope::analysis
