// The loop of the program whose trace is shown (model/analysis/loop.h), worked out off the GUI thread each time that another trace, or a later state of it,
// is shown.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>
#include <optional>

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

  // From the first process that enters its loop to the last that leaves it; none where nothing repeats, or it is not known (yet).
  [[nodiscard]] const std::optional<timeline::TimelineView::Loop>& loop() const { return loop_; }
  // Emits answered() as soon as it is known, which may be at once. Where the events are not in memory, NVTX ranges, or else GPU work, are read once for it.
  void ask();
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  void found();     // it was worked out, whether there is one or not
  void answered();  // likewise, to who asked

 private:
  void compute();
  void look();

  SelectionState& state_;
  std::optional<timeline::TimelineView::Loop> loop_;
  std::shared_ptr<const Trace> of_;  // was looked through
  bool is_asked_ = false;
  PacedUpdate paced_;
  LatestJob job_;
};

}  // namespace lanescope::ui
