// Remembers for each kind of trace how the user arranged the rows of a timeline (expanded, pinned, hidden, moved), and arranges them again when such a trace is
// shown.
#pragma once

#include <unordered_set>

#include <QObject>

#include "base/state/remembered_rows.h"
#include "base/state/selection_state.h"
#include "base/state/settings.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

class RowMemory : public QObject {
  Q_OBJECT

 public:
  // All must outlive this object. Requires: the timeline follows the state already.
  RowMemory(timeline::TimelineView& view, SelectionState& state, Settings& settings, QObject* parent = nullptr);

 private:
  void showTrace(TraceChange change);
  void keep();

  timeline::TimelineView& view_;
  SelectionState& state_;
  Settings& settings_;
  std::shared_ptr<const Trace> arranged_;  // the trace whose rows have been arranged; null while another one is loaded
  QString kind_;
  RememberedRows remembered_;
  timeline::RowArrangement seen_;          // the arrangement of the timeline when it was last read
  std::unordered_set<std::string> known_;  // rows that have been arranged: from then on, changes are the user's
};

}  // namespace lanescope::ui
