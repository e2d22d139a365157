// When to do again what follows a trace that grows or a view that moves: after a pause that grows with the time that it takes, so that
// following a change that does not end takes at most a fifth of one core.
#pragma once

#include <algorithm>

#include <QObject>
#include <QTimer>

namespace lanescope::ui {

class PacedUpdate : public QObject {
  Q_OBJECT

 public:
  explicit PacedUpdate(QObject* parent = nullptr) : QObject(parent) {
    pause_.setSingleShot(true);
    connect(&pause_, &QTimer::timeout, this, &PacedUpdate::due);
  }

  // due() comes after a pause, once for all calls until then.
  void request() {
    if (!pause_.isActive()) pause_.start(static_cast<int>(std::max(kShortestPauseMs, kPausePerWork * last_work_ms_)));
  }
  void cancel() { pause_.stop(); }
  void tookMilliseconds(qint64 milliseconds) { last_work_ms_ = milliseconds; }
  [[nodiscard]] bool isPending() const { return pause_.isActive(); }

 signals:
  void due();

 private:
  static constexpr qint64 kShortestPauseMs = 150;
  static constexpr qint64 kPausePerWork = 4;
  QTimer pause_;
  qint64 last_work_ms_ = 0;
};

}  // namespace lanescope::ui
