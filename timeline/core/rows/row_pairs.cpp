#include "timeline/core/rows/row_pairs.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace lanescope::timeline {
namespace {

// The number in "[4711] python" differs in every run.
std::string name_of(const Row& row) {
  std::string name = row.label.english();
  if (name.starts_with('['))
    if (const std::size_t end = name.find(']'); end != std::string::npos) name.erase(0, end + 1);
  return name;
}

bool is_told_by_name(RowKind kind) {
  return kind == RowKind::kKernelFamily || kind == RowKind::kKernelName || kind == RowKind::kMemoryOperation || kind == RowKind::kNvtx ||
         kind == RowKind::kCounter;
}

}  // namespace

std::optional<RowPair> headings_of_two(const RowTree& tree) {
  std::vector<RowIndex> headings;
  for (RowIndex index = 0; index < tree.rows().size(); ++index)
    if (tree.row(index).kind == RowKind::kTrace) headings.push_back(index);
  return headings.size() == 2 ? std::optional(RowPair{headings[0], headings[1]}) : std::nullopt;
}

std::vector<RowPair> pair_rows(const RowTree& tree, std::span<const RowIndex> first, std::span<const RowIndex> second) {
  std::vector<RowPair> pairs;
  for (const RowIndex index : first) pairs.push_back({index, std::nullopt});
  std::vector<RowIndex> left(second.begin(), second.end());
  // Pairs each unpaired row of `first` with the next row of `second` that has the same key; rows without a key are left out.
  const auto pair_by = [&](auto key_in_first, auto key_in_second) {
    std::map<typename decltype(key_in_second(std::declval<const Row&>()))::value_type, std::deque<RowIndex>> waiting;
    for (const RowIndex index : left)
      if (auto key = key_in_second(tree.row(index))) waiting[*key].push_back(index);
    for (RowPair& pair : pairs) {
      if (pair.second) continue;
      const auto key = key_in_first(tree.row(*pair.first));
      const auto found = key ? waiting.find(*key) : waiting.end();
      if (found == waiting.end() || found->second.empty()) continue;
      pair.second = found->second.front();
      found->second.pop_front();
      std::erase(left, *pair.second);
    }
  };
  const auto kind_and_name = [](const Row& row) { return std::optional(std::pair(row.kind, name_of(row))); };
  const auto kind = [](const Row& row) { return is_told_by_name(row.kind) ? std::nullopt : std::optional(row.kind); };
  const auto kind_without_name = [&](const Row& row) { return name_of(row).empty() ? kind(row) : std::nullopt; };
  pair_by(kind_and_name, kind_and_name);
  pair_by(kind, kind_without_name);
  pair_by(kind, kind);
  for (const RowIndex index : left) pairs.push_back({std::nullopt, index});
  return pairs;
}

std::optional<RowIndex> row_of_other_trace(const RowTree& tree, RowIndex row) {
  std::vector<RowIndex> path{row};  // from the row upwards
  while (tree.row(path.back()).parent) path.push_back(*tree.row(path.back()).parent);
  const std::optional<RowPair> headings = headings_of_two(tree);
  if (path.size() < 2 || !headings || tree.row(path.back()).kind != RowKind::kTrace) return std::nullopt;
  const bool is_first = path.back() == headings->first;
  RowPair pair = *headings;
  for (auto step = path.rbegin() + 1; step != path.rend(); ++step) {
    const std::vector<RowPair> below = pair_rows(tree, tree.row(*pair.first).children, tree.row(*pair.second).children);
    const auto found = std::find_if(below.begin(), below.end(), [&](const RowPair& each) { return (is_first ? each.first : each.second) == *step; });
    if (found == below.end() || !found->first || !found->second) return std::nullopt;
    pair = *found;
  }
  return is_first ? pair.second : pair.first;
}

}  // namespace lanescope::timeline
