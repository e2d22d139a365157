// What a person changes of rows and markers, to be undone and done again. An edit changes what it changed then, and leaves the rest as it is by
// now: rows that were opened since stay open, and notes that another window wrote meanwhile stay.
#pragma once

#include <vector>

#include <QUndoCommand>

#include "timeline/core/rows/row_layout.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::timeline {

class ViewState;

class RowsEdit : public QUndoCommand {
 public:
  // `text`: what is done, as a menu says it: "Hide the row".
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
