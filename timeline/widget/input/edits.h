// The user's changes to rows and markers, for undo and redo. An edit changes only what it changed first, and leaves the rest in its present state: rows that
// were expanded since stay expanded, and notes that another window wrote meanwhile stay.
#pragma once

#include <vector>

#include <QUndoCommand>

#include "timeline/core/rows/row_layout.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::timeline {

class ViewState;

class RowsEdit : public QUndoCommand {
 public:
  // `text`: the action, for a menu: "Hide the row".
  RowsEdit(ViewState& state, const QString& text, RowArrangement before, RowArrangement after);
  void undo() override { change(after_, before_); }
  void redo() override { change(before_, after_); }

 private:
  void change(const RowArrangement& from, const RowArrangement& to);
  ViewState& state_;
  RowArrangement before_;
  RowArrangement after_;
};

class MarkersEdit : public QUndoCommand {
 public:
  using Markers = std::vector<TimelineView::Marker>;
  MarkersEdit(ViewState& state, const QString& text, Markers before, Markers after);
  void undo() override { change(after_, before_); }
  void redo() override { change(before_, after_); }

 private:
  void change(const Markers& from, const Markers& to);
  ViewState& state_;
  Markers before_;
  Markers after_;
};

}  // namespace lanescope::timeline
