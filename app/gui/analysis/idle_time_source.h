// The idle and communication time of GPUs of the shown trace, computed off the GUI thread when another trace or a later state of it is shown.
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

  // For the shown trace or an earlier state of it; null if not known (yet).
  [[nodiscard]] const std::shared_ptr<const timeline::IdleTime>& idleTime() const { return idle_; }
  [[nodiscard]] const std::shared_ptr<const timeline::CommunicationTime>& communicationTime() const { return communication_; }
  // Computes them even if the events are not in memory: all events are read once.
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
