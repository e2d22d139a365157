#include "tables/table_place.h"

#include <algorithm>

#include <QHeaderView>
#include <QScrollBar>

namespace lanescope::ui {
namespace {

int lines_shown_above(const QTableView& table, int line) {
  if (table.verticalHeader()->hiddenSectionCount() == 0) return line;
  int shown = 0;
  for (int each = 0; each < line; ++each) shown += table.isRowHidden(each) ? 0 : 1;
  return shown;
}

}  // namespace

TablePlace::TablePlace(const QTableView& table) : scrolled_(table.verticalScrollBar()->value()), scrolled_right_(table.horizontalScrollBar()->value()) {
  const QModelIndex current = table.currentIndex();
  std::size_t selected = 0;
  for (const QItemSelectionRange& range : table.selectionModel()->selection()) selected += static_cast<std::size_t>(range.height());
  if (selected <= kMostLines)
    for (const QItemSelectionRange& range : table.selectionModel()->selection())
      for (int line = range.top(); line <= range.bottom(); ++line) lines_.push_back(line);
  if (current.isValid()) lines_.push_back(current.row());
  std::sort(lines_.begin(), lines_.end());
  lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
  for (const int line : lines_) is_selected_.push_back(table.selectionModel()->isRowSelected(line));
  if (!current.isValid()) return;
  current_ = static_cast<int>(std::lower_bound(lines_.begin(), lines_.end(), current.row()) - lines_.begin());
  column_ = current.column();
  const int above = lines_shown_above(table, current.row()) - scrolled_;
  const bool is_in_sight = above >= 0 && table.rowViewportPosition(current.row()) < table.viewport()->height();
  if (is_in_sight) above_current_ = above;
}

void TablePlace::restore(QTableView& table, std::span<const int> now) const {
  QItemSelection selection;
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (is_selected_[i] && now[i] != kGone) selection.select(table.model()->index(now[i], 0), table.model()->index(now[i], table.model()->columnCount() - 1));
  const bool scrolls = table.hasAutoScroll();
  table.setAutoScroll(false);
  const int current = current_ == kGone ? kGone : now[static_cast<std::size_t>(current_)];
  if (current != kGone) table.selectionModel()->setCurrentIndex(table.model()->index(current, std::max(0, column_)), QItemSelectionModel::NoUpdate);
  table.selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  table.setAutoScroll(scrolls);
  table.doItemsLayout();  // from then on, scroll bars know the new lines
  const bool follows = current != kGone && above_current_ != kGone;
  table.verticalScrollBar()->setValue(follows ? lines_shown_above(table, current) - above_current_ : scrolled_);
  table.horizontalScrollBar()->setValue(scrolled_right_);
}

}  // namespace lanescope::ui
