#include "analysis/idle_time_source.h"

#include <utility>

#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
namespace {

constexpr Nanoseconds kShortestGap = 10'000;  // default of the Bubbles panel: shorter gaps occur between any two launches

}  // namespace

IdleTimeSource::IdleTimeSource(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return paced_.request();
    set(nullptr, nullptr);
    compute();
  });
  paced_.after(job_);
  connect(&paced_, &PacedUpdate::due, this, &IdleTimeSource::compute);
}

// Traces with more events than fit into memory are searched only on request.
void IdleTimeSource::compute() {
  paced_.cancel();
  if (!state_.trace() || !has_memory_for_events(*state_.trace())) return job_.cancel();
  look();
}

void IdleTimeSource::look() {
  const std::shared_ptr<const Trace> trace = state_.trace();
  if (!trace || trace->provenance().outline_only) return job_.cancel();  // an outline has no operations of its own
  job_.start([this, trace](const LatestJob::Context& job) {
    auto idle = std::make_shared<const timeline::IdleTime>(trace, kShortestGap, job.stop());
    auto communication = std::make_shared<const timeline::CommunicationTime>(*trace, job.stop());
    job.deliver([this, idle = std::move(idle), communication = std::move(communication)] { set(idle, communication); });
  });
}

void IdleTimeSource::set(std::shared_ptr<const timeline::IdleTime> idle, std::shared_ptr<const timeline::CommunicationTime> communication) {
  if (idle == idle_) return;
  idle_ = std::move(idle);
  communication_ = std::move(communication);
  emit changed();
}

}  // namespace lanescope::ui
