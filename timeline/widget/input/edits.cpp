#include "input/edits.h"

#include <algorithm>
#include <utility>

#include "view/view_state.h"

namespace lanescope::timeline {
namespace {

bool has(const MarkersEdit::Markers& markers, const TimelineView::Marker& marker) { return std::find(markers.begin(), markers.end(), marker) != markers.end(); }

}  // namespace

RowsEdit::RowsEdit(ViewState& state, const QString& text, RowArrangement before, RowArrangement after)
    : QUndoCommand(text), state_(state), before_(std::move(before)), after_(std::move(after)) {}

void RowsEdit::change(const RowArrangement& from, const RowArrangement& to) {
  RowArrangement now = state_.arrangement();
  if (from.expanded != to.expanded) now.expanded = to.expanded;
  if (from.pinned != to.pinned) now.pinned = to.pinned;
  if (from.hidden != to.hidden) now.hidden = to.hidden;
  if (from.order != to.order) now.order = to.order;
  if (from.sides != to.sides) now.sides = to.sides;
  state_.arrange(std::move(now));
}

MarkersEdit::MarkersEdit(ViewState& state, const QString& text, Markers before, Markers after)
    : QUndoCommand(text), state_(state), before_(std::move(before)), after_(std::move(after)) {}

// Meanwhile, clocks of files may have changed, and files may have been removed.
void MarkersEdit::change(const Markers& from, const Markers& to) {
  const Markers old = state_.placed(from), wanted = state_.placed(to);
  Markers now = state_.markers();
  std::erase_if(now, [&](const TimelineView::Marker& marker) { return has(old, marker) && !has(wanted, marker); });
  for (const TimelineView::Marker& marker : wanted)
    if (!has(old, marker) && !has(now, marker)) now.push_back(marker);
  state_.setMarkers(state_.placed(std::move(now)));
  emit state_.markersEdited();
}

}  // namespace lanescope::timeline
