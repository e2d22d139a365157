#include "base/jobs/paced_update.h"

#include <algorithm>

namespace lanescope::ui {
namespace {

constexpr qint64 kShortestPauseMs = 150, kLongestPauseMs = 10'000;
constexpr qint64 kPausePerWork = 4;

}  // namespace

PacedUpdate::PacedUpdate(QObject* parent) : QObject(parent) {
  pause_.setSingleShot(true);
  connect(&pause_, &QTimer::timeout, this, &PacedUpdate::pauseEnded);
}

void PacedUpdate::after(const LatestJob& job) {
  jobs_.push_back({&job, {}, 0});
  connect(&job, &LatestJob::runningChanged, this, [this, &job] { jobChanged(job); });
  connect(&job, &QObject::destroyed, this, [this, gone = &job] { std::erase_if(jobs_, [gone](const Followed& each) { return each.job == gone; }); });
}

void PacedUpdate::request() {
  if (isPending()) return;
  qint64 work = last_due_ms_;
  for (const Followed& each : jobs_) work += each.last_work_ms;
  pause_.start(static_cast<int>(std::clamp(kPausePerWork * work, kShortestPauseMs, kLongestPauseMs)));
}

void PacedUpdate::cancel() {
  pause_.stop();
  waits_ = false;
}

bool PacedUpdate::isAtWork() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const Followed& each) { return each.job->isRunning(); });
}

void PacedUpdate::pauseEnded() {
  waits_ = isAtWork();
  if (waits_) return;
  QElapsedTimer clock;
  clock.start();
  emit due();
  last_due_ms_ = clock.elapsed();
}

// The pause that follows depends on the time of the work that has ended.
void PacedUpdate::jobChanged(const LatestJob& job) {
  const auto each = std::find_if(jobs_.begin(), jobs_.end(), [&](const Followed& known) { return known.job == &job; });
  if (job.isRunning())
    each->running.start();
  else
    each->last_work_ms = each->running.elapsed();
  if (!waits_ || isAtWork()) return;
  waits_ = false;
  request();
}

}  // namespace lanescope::ui
