// The loop of the program whose trace is shown (model/analysis/loop.h), worked out off the GUI thread each time that another trace, or a later state of it,
// is shown.
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

  // From the first process that enters its loop to the last that leaves it, of each run where runs are compared; none where nothing repeats, or it is not known
  // (yet).
  [[nodiscard]] const std::vector<timeline::TimelineView::Loop>& loops() const { return loops_; }
  // Emits answered() as soon as it is known, which may be at once; of several who ask meanwhile, to the last. Where the events are not in memory, NVTX ranges,
  // calls and GPU work are read once for it.
  void ask(timeline::LoopUse use);
  [[nodiscard]] bool isAsked() const { return asked_.has_value(); }  // to be answered
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  void found();                                     // it was worked out, whether there is one or not
  void answered(lanescope::timeline::LoopUse use);  // likewise, to who asked

 private:
  void compute();
  void look();

  SelectionState& state_;
  std::vector<timeline::TimelineView::Loop> loops_;
  std::shared_ptr<const Trace> of_;  // was looked through
  std::optional<timeline::LoopUse> asked_;
  PacedUpdate paced_;
  LatestJob job_;
};

}  // namespace lanescope::ui
