// The idle and communication time of GPUs of the shown trace, worked out off the GUI thread each time that another trace, or a later state of it, is shown.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>

#include <QObject>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/lanes/idle_time.h"

namespace lanescope::ui {

class IdleTimeSource : public QObject {
  Q_OBJECT

 public:
  explicit IdleTimeSource(SelectionState& state, QObject* parent = nullptr);

  // Of the shown trace or of an earlier state of it; null where it is not known (yet).
  [[nodiscard]] const std::shared_ptr<const timeline::IdleTime>& idleTime() const { return idle_; }
  [[nodiscard]] const std::shared_ptr<const timeline::CommunicationTime>& communicationTime() const { return communication_; }
  // Works it out also where the events are not in memory: all are read once.
  void look();
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  void changed();

 private:
  void compute();
  void set(std::shared_ptr<const timeline::IdleTime> idle, std::shared_ptr<const timeline::CommunicationTime> communication);

  SelectionState& state_;
  std::shared_ptr<const timeline::IdleTime> idle_;
  std::shared_ptr<const timeline::CommunicationTime> communication_;
  PacedUpdate paced_;
  LatestJob job_;
};

}  // namespace lanescope::ui
