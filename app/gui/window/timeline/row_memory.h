// Remembers how its user arranged the rows of a timeline (opened, pinned, hidden, moved), for each kind of trace, and arranges them so
// again when such a trace is shown.
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
  // All must outlive the memory; the timeline follows the state already.
  RowMemory(timeline::TimelineView& view, SelectionState& state, Settings& settings, QObject* parent = nullptr);

 private:
  void showTrace(TraceChange change);
  void keep();

  timeline::TimelineView& view_;
  SelectionState& state_;
  Settings& settings_;
  std::shared_ptr<const Trace> arranged_;  // the trace whose rows are as they are remembered; null while another one comes
  QString kind_;
  RememberedRows remembered_;
  timeline::RowArrangement seen_;          // what the timeline had when it was last looked at
  std::unordered_set<std::string> known_;  // rows whose memories are applied: from now on, what their user does counts
};

}  // namespace lanescope::ui
