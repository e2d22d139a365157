#include "timeline/core/row_pairs.h"

#include <algorithm>
#include <string>
#include <vector>

namespace lanescope::timeline {
namespace {

// "[4711] python" is another number in every run.
std::string name_of(const Row& row) {
  std::string name = row.label.english();
  if (name.starts_with('['))
    if (const std::size_t end = name.find(']'); end != std::string::npos) name.erase(0, end + 1);
  return name;
}

// Those of the children that are alike, with the position of `child` among them.
template <typename Alike>
std::optional<RowIndex> at_same_position(const std::vector<RowIndex>& children, RowIndex child, const std::vector<RowIndex>& others, Alike alike) {
  const auto position = std::count_if(children.begin(), std::find(children.begin(), children.end(), child), alike);
  std::vector<RowIndex> matching;
  std::copy_if(others.begin(), others.end(), std::back_inserter(matching), alike);
  if (position >= static_cast<std::ptrdiff_t>(matching.size())) return std::nullopt;
  return matching[static_cast<std::size_t>(position)];
}

}  // namespace

std::optional<RowIndex> row_of_other_trace(const RowTree& tree, RowIndex row) {
  std::vector<RowIndex> path{row};  // from the row up
  while (tree.row(path.back()).parent) path.push_back(*tree.row(path.back()).parent);
  std::vector<RowIndex> headings;
  for (RowIndex index = 0; index < tree.rows().size(); ++index)
    if (tree.row(index).kind == RowKind::kTrace) headings.push_back(index);
  if (path.size() < 2 || headings.size() != 2 || tree.row(path.back()).kind != RowKind::kTrace) return std::nullopt;
  RowIndex other = path.back() == headings[0] ? headings[1] : headings[0];
  for (auto step = path.rbegin() + 1; step != path.rend(); ++step) {
    const Row& wanted = tree.row(*step);
    const std::vector<RowIndex>& children = tree.row(*(step - 1)).children;
    const auto same_name = [&](RowIndex each) { return tree.row(each).kind == wanted.kind && name_of(tree.row(each)) == name_of(wanted); };
    const auto same_kind = [&](RowIndex each) { return tree.row(each).kind == wanted.kind; };
    std::optional<RowIndex> found = at_same_position(children, *step, tree.row(other).children, same_name);
    const bool is_told_by_name = wanted.kind == RowKind::kKernelName || wanted.kind == RowKind::kMemoryOperation || wanted.kind == RowKind::kNvtx || wanted.kind == RowKind::kCounter;
    if (!found && !is_told_by_name) found = at_same_position(children, *step, tree.row(other).children, same_kind);
    if (!found) return std::nullopt;
    other = *found;
  }
  return other;
}

}  // namespace lanescope::timeline
