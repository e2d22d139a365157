// The rows of the timeline: which are shown, where, and which one keys act on.
#include <algorithm>

#include <QContextMenuEvent>

#include "timeline/widget/shown_text.h"
#include "view/timeline_parts.h"

namespace lanescope::timeline {

const RowTree& TimelineView::rows() const { return parts_->state.tree(); }

bool TimelineView::isExpanded(const QString& row_key) const {
  const auto row = parts_->state.tree().find(row_key.toStdString());
  return row && parts_->state.isRowExpanded(parts_->state.tree().row(*row));
}

void TimelineView::expandRow(const QString& row_key) { parts_->state.setRowState(row_key.toStdString(), RowState::kExpanded); }
void TimelineView::collapseRow(const QString& row_key) { parts_->state.setRowState(row_key.toStdString(), RowState::kCollapsed); }
void TimelineView::expandAll() { parts_->state.setRowStates(RowState::kExpanded); }
void TimelineView::collapseAll() { parts_->state.setRowStates(RowState::kCollapsed); }
void TimelineView::setRowFilter(const QString& text) { parts_->state.setFilter(text.toStdString()); }
bool TimelineView::hasRowFilter() const { return !parts_->state.filter().empty(); }

void TimelineView::scrollToRow(const QString& row_key) {
  if (const auto row = parts_->state.tree().find(row_key.toStdString())) parts_->state.scrollTo(*row);
}

std::vector<LaneSource> TimelineView::rowEvents(const QString& row_key) const {
  const auto row = parts_->state.tree().find(row_key.toStdString());
  return row ? parts_->state.tree().row(*row).all : std::vector<LaneSource>();
}

QString TimelineView::rowTitle(const QString& row_key) const {
  const auto row = parts_->state.tree().find(row_key.toStdString());
  return row ? shown_text(row_title(parts_->state.tree().row(*row))) : QString();
}

bool TimelineView::isPinned(const QString& row_key) const {
  const std::vector<std::string>& pinned = parts_->state.arrangement().pinned;
  return std::find(pinned.begin(), pinned.end(), row_key.toStdString()) != pinned.end();
}

void TimelineView::pin(const QString& row_key) { parts_->state.setPinned(row_key.toStdString(), ViewState::Pinned::kYes); }
void TimelineView::unpin(const QString& row_key) { parts_->state.setPinned(row_key.toStdString(), ViewState::Pinned::kNo); }

void TimelineView::hideRow(const QString& row_key) { parts_->state.hide(row_key.toStdString()); }
bool TimelineView::hasHiddenRows() const { return !parts_->state.arrangement().hidden.empty(); }
void TimelineView::showHiddenRows() { parts_->state.showHidden(); }

void TimelineView::moveRow(const QString& row_key, const QString& sibling_key) { parts_->state.move(row_key.toStdString(), sibling_key.toStdString()); }

const RowArrangement& TimelineView::rowArrangement() const { return parts_->state.arrangement(); }
void TimelineView::arrangeRowsAsAtFirst() { parts_->state.arrangeAsAtFirst(); }
TraceSides TimelineView::traceSides() const { return parts_->state.sides(); }
void TimelineView::setTraceSides(TraceSides sides) { parts_->state.setSides(sides); }
RowData TimelineView::shownRows() const { return data_of_rows(parts_->state.tree(), parts_->state.arrangement(), parts_->state.filter()); }
void TimelineView::setRowArrangement(RowArrangement arrangement) { parts_->state.arrange(std::move(arrangement)); }

QString TimelineView::currentRow() const {
  const ViewState& state = parts_->state;
  if (!state.currentRow().empty()) return QString::fromStdString(state.currentRow());
  std::optional<RowIndex> row;
  if (parts_->canvas->underMouse() || parts_->header->underMouse())
    if (const PlacedRow* placed = state.rowAt(parts_->canvas->mapFromGlobal(QCursor::pos()).y())) row = placed->row;
  if (const EventRef event = selectedEvent(); !row && event.valid())
    if (const auto place = state.tree().place_of(event.lane)) row = place->row;
  return row ? QString::fromStdString(state.tree().row(*row).key) : QString();
}

void TimelineView::setCurrentRow(const QString& row_key) { parts_->state.setCurrentRow(row_key.toStdString()); }

void TimelineView::stepRow(RowDirection direction) {
  ViewState& state = parts_->state;
  const std::vector<PlacedRow>& placed = state.layout().rows();
  if (placed.empty()) return;
  std::ptrdiff_t next = direction == RowDirection::kDown ? 0 : static_cast<std::ptrdiff_t>(placed.size()) - 1;
  if (const auto row = state.tree().find(currentRow().toStdString()))
    if (const PlacedRow* from = state.layout().nearest_shown(*row)) next = from - placed.data() + (direction == RowDirection::kDown ? 1 : -1);
  if (next < 0 || next >= static_cast<std::ptrdiff_t>(placed.size())) return;
  const RowIndex chosen = placed[static_cast<std::size_t>(next)].row;
  state.setCurrentRow(state.tree().row(chosen).key);
  state.scrollTo(chosen);
}

void TimelineView::pinRow() {
  if (const QString row = currentRow(); !row.isEmpty()) isPinned(row) ? unpin(row) : pin(row);
}

void TimelineView::hideCurrentRow() {
  const QString row = currentRow();
  if (row.isEmpty()) return;
  setCurrentRow({});
  hideRow(row);
}

void TimelineView::toggleRow() {
  if (const QString row = currentRow(); !row.isEmpty()) isExpanded(row) ? collapseRow(row) : expandRow(row);
}

void TimelineView::shiftRow(RowDirection direction) {
  const ViewState& state = parts_->state;
  const auto row = state.tree().find(currentRow().toStdString());
  if (!row) return;
  std::vector<RowIndex> siblings = siblings_in_order(state.tree(), state.tree().row(*row).parent, state.arrangement());
  const auto is_filtered_out = [&](RowIndex each) {
    const PlacedRow* shown = state.layout().nearest_shown(each);
    return !state.filter().empty() && (shown == nullptr || shown->row != each);
  };
  std::erase_if(siblings, [&](RowIndex each) { return state.arrangement().hidden.contains(state.tree().row(each).key) || is_filtered_out(each); });
  const auto at = std::find(siblings.begin(), siblings.end(), *row);
  if (at == siblings.end() || (direction == RowDirection::kUp ? at == siblings.begin() : at + 1 == siblings.end())) return;
  const RowIndex sibling = direction == RowDirection::kUp ? *(at - 1) : *(at + 1);
  moveRow(QString::fromStdString(state.tree().row(*row).key), QString::fromStdString(state.tree().row(sibling).key));
  parts_->state.scrollTo(*row);
}

void TimelineView::orderRows(RowMeasure by) {
  ViewState& state = parts_->state;
  if (state.tree().rows().empty()) return;
  const std::string current = currentRow().toStdString();
  state.order(state.tree().find(current) ? current : state.tree().rows().front().key, by);
}

void TimelineView::selectInRow() {
  ViewState& state = parts_->state;
  const auto row = state.tree().find(currentRow().toStdString());
  if (!row) return;
  const TimeRange range = visibleRange();
  if (state.tree().row(*row).kind == RowKind::kAnswer) {
    clearSelection();
    setCurrentRow(QString::fromUtf8(RowTree::kAnswerKey.data(), RowTree::kAnswerKey.size()));
    return setSelectedRange(state.answer()->nearest(range.begin + range.length() / 2));
  }
  const LevelContent* content = state.content(state.tree().row(*row).all);
  if (const auto found = content != nullptr ? nearest_event(*content, range.begin + range.length() / 2) : std::nullopt) selectEvent(*found);
}

void TimelineView::askForMenu() {
  const ViewState& state = parts_->state;
  const QString key = currentRow();
  const EventRef event = selectedEvent();
  if (const auto place = event.valid() ? state.tree().place_of(event.lane) : std::nullopt; place && state.currentRow().empty()) {
    const QRect shown = parts_->canvas->rectangleOf(key.toStdString(), isPinned(key) ? RowPlace::kPinned : RowPlace::kAmongOthers, event);
    const QPoint at = shown.isEmpty() ? parts_->canvas->rect().center() : shown.center();
    return emit eventContextMenuRequested(event, key, parts_->canvas->mapToGlobal(at));
  }
  if (const std::optional<Gap> gap = state.selectedGap(); gap && selection().latestTime() == gap->range && state.currentRow().empty())
    return emit gapContextMenuRequested(*gap, QStringLiteral("gpu:%1/hw").arg(gap->gpu), parts_->canvas->mapToGlobal(parts_->canvas->rect().center()));
  const auto row = state.tree().find(key.toStdString());
  if (!row) return;
  const PlacedRow* placed = state.layout().nearest_shown(*row);
  const int y = placed == nullptr ? 0 : std::clamp(state.topOf(*placed), 0, parts_->header->height());
  emit rowContextMenuRequested(key, parts_->header->mapToGlobal(QPoint(parts_->header->width() / 2, y)));
}

// Only for the menu key: the parts handle the mouse themselves.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Keyboard) askForMenu();
  event->accept();
}

void TimelineView::scrollRows(int pages) { parts_->state.setScroll(parts_->state.scroll() + pages * parts_->canvas->height() * 3 / 4); }

}  // namespace lanescope::timeline
