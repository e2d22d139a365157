// When to repeat work that follows a growing trace or a moving view. The pause before it is four times the time that the work takes, from 150 ms to 10 s. So
// following an endless change takes at most a fifth of one core, unless the work takes longer than 2.5 s. The work is not repeated while its computation
// runs, so that a computation that takes longer than the pause can finish.
#pragma once

#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "base/jobs/latest_job.h"

namespace lanescope::ui {

class PacedUpdate : public QObject {
  Q_OBJECT

 public:
  explicit PacedUpdate(QObject* parent = nullptr);

  // due() is not emitted while this job runs. What its last computation took counts as work, as does what the receivers of due() do at once.
  void after(const LatestJob& job);
  void request();  // due() is emitted after a pause, once for all calls until then
  void cancel();
  [[nodiscard]] bool isPending() const { return pause_.isActive() || waits_; }

 signals:
  void due();

 private:
  struct Followed {
    const LatestJob* job;
    QElapsedTimer running;    // since its computation began
    qint64 last_work_ms = 0;  // of its last computation
  };

  [[nodiscard]] bool isAtWork() const;
  void pauseEnded();
  void jobChanged(const LatestJob& job);

  std::vector<Followed> jobs_;
  QTimer pause_;
  bool waits_ = false;      // for jobs; the pause is over
  qint64 last_due_ms_ = 0;  // what the receivers of due() took
};

}  // namespace lanescope::ui
