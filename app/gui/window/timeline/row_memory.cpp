#include "window/timeline/row_memory.h"

namespace lanescope::ui {

using timeline::TimelineView;

RowMemory::RowMemory(TimelineView& view, SelectionState& state, Settings& settings, QObject* parent)
    : QObject(parent), view_(view), state_(state), settings_(settings) {
  connect(&state, &SelectionState::traceChanged, this, &RowMemory::showTrace);
  connect(&view, &TimelineView::rowArrangementChanged, this, &RowMemory::keep);
}

void RowMemory::showTrace(TraceChange change) {
  if (change == TraceChange::kOther) {
    known_.clear();
    kind_.clear();
  }
  arranged_ = nullptr;
  if (!state_.trace()) return;
  if (kind_.isEmpty()) {
    kind_ = kind_of_trace(*state_.trace());
    remembered_ = settings_.rows(kind_);
  }
  seen_ = arrange(view_.rows(), remembered_, view_.rowArrangement(), known_);
  for (const timeline::Row& row : view_.rows().rows()) known_.insert(row.key);
  view_.setRowArrangement(seen_);
  arranged_ = state_.trace();
}

// The timeline also reports other changes of its rows: those caused by a new trace, or by a filter, which expands rows until it is cleared.
void RowMemory::keep() {
  if (view_.hasRowFilter() || !arranged_ || arranged_ != state_.trace() || kind_.isEmpty() || view_.rowArrangement() == seen_) return;
  seen_ = view_.rowArrangement();
  remembered_ = remember(view_.rows(), seen_, remembered_);
  settings_.setRows(kind_, remembered_);
}

}  // namespace lanescope::ui
