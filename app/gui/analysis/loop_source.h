// The loop of the program whose trace is shown (model/analysis/loop.h), computed off the GUI thread when another trace or a later state of it is shown.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

class LoopSource : public QObject {
  Q_OBJECT

 public:
  explicit LoopSource(SelectionState& state, QObject* parent = nullptr);

  // From the first process that enters its loop to the last that leaves it; one for each run if runs are compared. Empty if nothing repeats, or if it is not
  // known (yet).
  [[nodiscard]] const std::vector<timeline::TimelineView::Loop>& loops() const { return loops_; }
  // Emits answered() as soon as the loop is known, which may be at once; if several ask meanwhile, only for the last. If the events are not in memory, NVTX
  // ranges, calls and GPU work are read once.
  void ask(timeline::LoopUse use);
  [[nodiscard]] bool isAsked() const { return asked_.has_value(); }  // a request waits for its answer
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  void found();                                     // the search has ended, with or without a loop
  void answered(lanescope::timeline::LoopUse use);  // the same, if there was a request

 private:
  void compute();
  void look();

  SelectionState& state_;
  std::vector<timeline::TimelineView::Loop> loops_;
  std::shared_ptr<const Trace> of_;  // the trace that was searched
  std::optional<timeline::LoopUse> asked_;
  PacedUpdate paced_;
  LatestJob job_;
};

}  // namespace lanescope::ui
