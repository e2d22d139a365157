// The arrangement of the rows of a timeline: which are expanded, pinned, hidden, filtered, and in what order.
#include <algorithm>
#include <set>
#include <utility>

#include "input/edits.h"
#include "timeline/core/rows/row_pairs.h"
#include "view/view_state.h"

namespace lanescope::timeline {

void ViewState::setRowState(const std::string& key, RowState state) {
  const auto row = tree().find(key);
  const bool expanded = state == RowState::kExpanded;
  if (!row || isRowExpanded(tree().row(*row)) == expanded) return;
  const std::optional<Anchor> before = anchor(*row);
  arrangement_.expanded[key] = expanded;
  if (sides() == TraceSides::kInterleaved)
    if (const auto other = row_of_other_trace(tree(), *row)) arrangement_.expanded[tree().row(*other).key] = expanded;
  layOut();
  returnTo(before);
}

void ViewState::openRowsTo(EventRef event) {
  const auto place = event.valid() ? tree().place_of(event.lane) : std::nullopt;
  if (!place) return;
  for (std::optional<RowIndex> row = place->row; row; row = tree().row(*row).parent)
    if (row != place->row || tree().row(*row).levels.size() > 1) setRowState(tree().row(*row).key, RowState::kExpanded);
}

void ViewState::setRowStates(RowState state) {
  const bool expanded = state == RowState::kExpanded;
  const std::optional<Anchor> before = anchor();
  for (const Row& row : tree().rows())  // a stack chart is dozens of levels high: it is expanded only individually
    if (!expanded || row.kind != RowKind::kStackChart) arrangement_.expanded[row.key] = expanded;
  layOut();
  returnTo(before);
}

void ViewState::setPinned(const std::string& key, Pinned pinned) {
  const auto found = std::find(arrangement_.pinned.begin(), arrangement_.pinned.end(), key);
  if ((found != arrangement_.pinned.end()) == (pinned == Pinned::kYes)) return;
  RowArrangement arrangement = arrangement_;
  if (pinned == Pinned::kYes) {
    arrangement.pinned.push_back(key);
    return editRows(tr("Pin the row"), std::move(arrangement));
  }
  std::erase(arrangement.pinned, key);
  editRows(tr("Release the row from the top"), std::move(arrangement));
}

void ViewState::hide(const std::string& key) {
  RowArrangement arrangement = arrangement_;
  arrangement.hidden.insert(key);
  editRows(tr("Hide the row"), std::move(arrangement));
}

void ViewState::showHidden() {
  RowArrangement arrangement = arrangement_;
  arrangement.hidden.clear();
  editRows(tr("Show hidden rows"), std::move(arrangement));
}

void ViewState::arrangeAsAtFirst() { editRows(tr("Arrange all rows as at first"), {}); }

void ViewState::editRows(const QString& text, RowArrangement arrangement) {
  if (arrangement != arrangement_) edits_.push(new RowsEdit(*this, text, arrangement_, std::move(arrangement)));
}

void ViewState::move(const std::string& key, const std::string& sibling) {
  const auto row = tree().find(key);
  const auto other = tree().find(sibling);
  if (!row || !other || *row == *other || tree().row(*row).parent != tree().row(*other).parent) return;
  const std::optional<RowIndex> parent = tree().row(*row).parent;
  std::vector<std::string> keys;
  for (const RowIndex index : siblings_in_order(tree(), parent, arrangement_)) keys.push_back(tree().row(index).key);
  const auto from = std::find(keys.begin(), keys.end(), key);
  const auto to = std::find(keys.begin(), keys.end(), sibling);
  if (from < to)
    std::rotate(from, from + 1, to + 1);
  else
    std::rotate(to, from, from + 1);
  RowArrangement arrangement = arrangement_;
  arrangement.order[parent ? tree().row(*parent).key : std::string()] = std::move(keys);
  editRows(tr("Move the row"), std::move(arrangement));
}

void ViewState::order(const std::string& key, RowMeasure by) {
  const auto row = tree().find(key);
  const TimeRange range = selectedRange().value_or(range_).intersected(trace().extent());
  if (!row || range.empty()) return;
  const std::optional<RowIndex> parent = tree().row(*row).parent;
  std::vector<const Level*> levels;
  for (const RowIndex sibling : siblings_in_order(tree(), parent, arrangement_)) levels.push_back(&tree().row(sibling).all);
  if (by != RowMeasure::kWaiting && !content_->is_on_demand()) (void)content_->contents().contents(levels);
  std::vector<std::pair<double, std::string>> measured;
  bool all_known = true;
  for (const RowIndex index : siblings_in_order(tree(), parent, arrangement_)) {
    const Row& sibling = tree().row(index);
    double value = 0;
    if (by == RowMeasure::kWaiting) {
      value = waitingShare(sibling, range);
    } else if (!sibling.all.empty()) {
      const std::optional<Picture::RowSum> sum = rowSum(sibling, range);
      all_known = all_known && sum.has_value();
      value = sum ? static_cast<double>(sum->busy) : 0;
    }
    measured.emplace_back(value, sibling.key);
  }
  if (!all_known) return;
  std::stable_sort(measured.begin(), measured.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  RowArrangement arrangement = arrangement_;
  std::vector<std::string>& keys = arrangement.order[parent ? tree().row(*parent).key : std::string()];
  keys.clear();
  for (auto& [value, each] : measured) keys.push_back(std::move(each));
  editRows(tr("Order the rows"), std::move(arrangement));
}

void ViewState::setSides(TraceSides sides) {
  if (trace().parts().empty()) return;
  RowArrangement arrangement = arrangement_;
  arrangement.sides = sides;
  editRows(sides == TraceSides::kInterleaved ? tr("Interleave the rows of A and B") : tr("Show the rows of B below those of A"), std::move(arrangement));
}

void ViewState::arrange(RowArrangement arrangement) {
  if (arrangement == arrangement_) return;
  const std::optional<Anchor> before = anchor();
  arrangement_ = std::move(arrangement);
  layOut();
  returnTo(before);
}

std::optional<ViewState::Anchor> ViewState::anchor(std::optional<RowIndex> preferred) const {
  const auto of = [&](const PlacedRow& placed) { return Anchor{tree().row(placed.row).key, placed.top - scroll_ - layout_.pinned_height()}; };
  const auto in_sight = [&](const PlacedRow* placed) {
    return placed != nullptr && !placed->is_pinned() && placed->top - scroll_ >= layout_.pinned_height() && placed->top - scroll_ < canvas_height_;
  };
  std::vector<RowIndex> about;
  if (preferred) about.push_back(*preferred);
  if (const auto row = tree().find(current_row_)) about.push_back(*row);
  if (const auto place = selected().valid() ? tree().place_of(selected().lane) : std::nullopt) about.push_back(place->row);
  for (const RowIndex row : about)
    if (const PlacedRow* placed = layout_.nearest_shown(row); in_sight(placed)) return of(*placed);
  if (scroll_ == 0) return std::nullopt;
  const auto first = std::find_if(layout_.rows().begin(), layout_.rows().end(), [&](const PlacedRow& placed) { return in_sight(&placed); });
  return first == layout_.rows().end() ? std::nullopt : std::optional(of(*first));
}

void ViewState::returnTo(const std::optional<Anchor>& anchor) {
  const auto row = anchor ? tree().find(anchor->row) : std::nullopt;
  const PlacedRow* placed = row ? layout_.nearest_shown(*row) : nullptr;
  if (placed != nullptr && !placed->is_pinned()) setScroll(placed->top - layout_.pinned_height() - anchor->below_pinned);
}

std::size_t ViewState::hiddenCount() const {
  return static_cast<std::size_t>(
      std::count_if(arrangement_.hidden.begin(), arrangement_.hidden.end(), [this](const std::string& key) { return tree().find(key).has_value(); }));
}

void ViewState::setCurrentRow(std::string key) {
  if (key == current_row_) return;
  current_row_ = std::move(key);
  emit currentRowChanged();
}

// When the filter is cleared, rows return to their positions, unless another row was chosen meanwhile: that one stays in sight.
void ViewState::setFilter(std::string filter) {
  if (filter == filter_) return;
  if (filter_.empty()) before_filter_ = {scroll_, current_row_, {}};
  closeWhatFilterOpened();
  filter_ = std::move(filter);
  for (const RowIndex row : closed_above_matches(tree(), arrangement_.expanded, filter_)) {
    const std::string& key = tree().row(row).key;
    before_filter_.opened.push_back(key);
    arrangement_.expanded[key] = true;
  }
  layOut();
  if (!filter_.empty()) return;
  setScroll(before_filter_.scroll);
  if (current_row_ == before_filter_.current_row) return;
  if (const auto row = tree().find(current_row_)) scrollTo(*row);
}

// Except rows above a row that was chosen meanwhile.
void ViewState::closeWhatFilterOpened() {
  std::set<std::string> kept;
  if (current_row_ != before_filter_.current_row)
    for (auto row = tree().find(current_row_); row; row = tree().row(*row).parent) kept.insert(tree().row(*row).key);
  for (const std::string& key : std::exchange(before_filter_.opened, {}))
    if (!kept.contains(key)) arrangement_.expanded[key] = false;
}

}  // namespace lanescope::timeline
