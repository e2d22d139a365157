// Runs a computation off the GUI thread. Only the latest computation counts: starting another asks the previous one to stop and discards what it still
// delivers. A computation that runs out of memory ends, and SegmentCache::problems() reports it.
//
// Threads: the GUI thread only, except Context, which belongs to the computation. The destructor waits until the computation has stopped.
#pragma once

#include <functional>
#include <stop_token>

#include <QObject>
#include <QThreadPool>

namespace lanescope::ui {

class LatestJob : public QObject {
  Q_OBJECT

 public:
  // What a computation sees.
  class Context {
   public:
    [[nodiscard]] std::stop_token stop() const { return stop_; }
    // Runs `result` on the GUI thread, in the order of the calls, unless the computation was replaced in the meantime.
    void deliver(std::function<void()> result) const;

   private:
    friend class LatestJob;
    LatestJob* job_ = nullptr;
    quint64 generation_ = 0;
    std::stop_token stop_;
  };

  explicit LatestJob(QObject* parent = nullptr);
  ~LatestJob() override;

  void start(std::function<void(const Context&)> computation);
  void cancel();
  [[nodiscard]] bool isRunning() const { return state_ == State::kRunning; }

 signals:
  void runningChanged(bool running);

 private:
  enum class State { kIdle, kRunning };
  void setState(State state);

  QThreadPool pool_;
  std::stop_source stop_;
  quint64 generation_ = 0;
  State state_ = State::kIdle;
};

}  // namespace lanescope::ui
