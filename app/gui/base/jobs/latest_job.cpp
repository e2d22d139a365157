#include "base/jobs/latest_job.h"

#include "timeline/widget/surely.h"

namespace lanescope::ui {

void LatestJob::Context::deliver(std::function<void()> result) const {
  auto deliver_if_current = [job = job_, generation = generation_, result = std::move(result)] {
    if (job->generation_ == generation) result();
  };
  QMetaObject::invokeMethod(job_, std::move(deliver_if_current), Qt::QueuedConnection);
}

LatestJob::LatestJob(QObject* parent) : QObject(parent) { pool_.setMaxThreadCount(1); }

LatestJob::~LatestJob() {
  stop_.request_stop();
  pool_.waitForDone();
}

void LatestJob::start(std::function<void(const Context&)> computation) {
  stop_.request_stop();
  stop_ = std::stop_source();
  Context context;
  context.job_ = this;
  context.generation_ = ++generation_;
  context.stop_ = stop_.get_token();
  setState(State::kRunning);
  pool_.start([this, context, computation = std::move(computation)] {
    timeline::within_memory([&] {
      if (!context.stop().stop_requested()) computation(context);
    });
    timeline::deliver_surely(this, [this, generation = context.generation_] {
      if (generation == generation_) setState(State::kIdle);
    });
  });
}

void LatestJob::cancel() {
  stop_.request_stop();
  ++generation_;
  setState(State::kIdle);
}

void LatestJob::setState(State state) {
  if (state_ == state) return;
  state_ = state;
  emit runningChanged(isRunning());
}

}  // namespace lanescope::ui
