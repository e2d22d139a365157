// When to do again what follows a trace that grows or a view that moves: after a pause that grows with the time that it takes, so that
// following a change that does not end takes at most a fifth of one core; and not before the computation that runs has ended, so that one which
// takes longer than the pause comes to its end.
#pragma once

#include <algorithm>
#include <vector>

#include <QObject>
#include <QTimer>

#include "base/jobs/latest_job.h"

namespace lanescope::ui {

class PacedUpdate : public QObject {
  Q_OBJECT

 public:
  explicit PacedUpdate(QObject* parent = nullptr) : QObject(parent) {
    pause_.setSingleShot(true);
    connect(&pause_, &QTimer::timeout, this, &PacedUpdate::pauseEnded);
  }

  // due() does not come while this runs.
  void after(const LatestJob& job) {
    jobs_.push_back(&job);
    connect(&job, &LatestJob::runningChanged, this, &PacedUpdate::jobChanged);
    connect(&job, &QObject::destroyed, this, [this, gone = &job] { std::erase(jobs_, gone); });
  }
  // due() comes after a pause, once for all calls until then.
  void request() {
    if (isPending()) return;
    pause_.start(static_cast<int>(std::max(kShortestPauseMs, kPausePerWork * last_work_ms_)));
  }
  void cancel() {
    pause_.stop();
    waits_ = false;
  }
  void tookMilliseconds(qint64 milliseconds) { last_work_ms_ = milliseconds; }
  [[nodiscard]] bool isPending() const { return pause_.isActive() || waits_; }

 signals:
  void due();

 private:
  static constexpr qint64 kShortestPauseMs = 150;
  static constexpr qint64 kPausePerWork = 4;

  [[nodiscard]] bool isAtWork() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const LatestJob* job) { return job->isRunning(); });
  }
  void pauseEnded() {
    waits_ = isAtWork();
    if (!waits_) emit due();
  }
  // The work that has ended gives the pause that follows it.
  void jobChanged() {
    if (!waits_ || isAtWork()) return;
    waits_ = false;
    request();
  }

  std::vector<const LatestJob*> jobs_;
  QTimer pause_;
  bool waits_ = false;  // for them, the pause being over
  qint64 last_work_ms_ = 0;
};

}  // namespace lanescope::ui
