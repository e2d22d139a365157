#include "analysis/loop_source.h"

#include <algorithm>
#include <utility>

#include <QElapsedTimer>

#include "model/analysis/families.h"
#include "model/analysis/loop/loop.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
namespace {

using Loop = timeline::TimelineView::Loop;

// What is known of it, in no language: it is named on the GUI thread.
struct KnownLoop {
  TimeRange range;
  std::string family;  // empty: its GPU work alone tells it
  std::size_t iterations = 0;
  std::size_t processes = 0;  // that take part
};

std::optional<KnownLoop> loop_of(const Trace& trace) {
  analysis::Families families(trace);
  const analysis::Loop loop(trace, families);
  std::optional<TimeRange> all;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    if (const std::optional<TimeRange> range = loop.of(process); range && !range->empty())
      all = all ? TimeRange{std::min(all->begin, range->begin), std::max(all->end, range->end)} : *range;
  if (!all) return std::nullopt;
  return KnownLoop{*all, std::string(analysis::loop_name(families.text(loop.family()))), loop.iterations(), loop.processes()};
}

QString title_of(const KnownLoop& loop) {
  if (loop.family.empty()) return LoopSource::tr("loop of GPU work");
  const QString family = QString::fromStdString(loop.family);
  if (loop.processes > 1) return LoopSource::tr("loop \"%1\" of %n processes", nullptr, static_cast<int>(loop.processes)).arg(family);
  return LoopSource::tr("loop \"%1\", %n iterations", nullptr, static_cast<int>(loop.iterations)).arg(family);
}

}  // namespace

LoopSource::LoopSource(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return paced_.request();
    loop_.reset();
    of_.reset();
    is_asked_ = false;
    compute();
  });
  paced_.after(job_);
  connect(&paced_, &PacedUpdate::due, this, &LoopSource::compute);
}

// To look through a trace of more events than memory is for is left to who asks for it.
void LoopSource::compute() {
  paced_.cancel();
  if (!state_.trace() || !has_memory_for_events(*state_.trace())) return job_.cancel();
  look();
}

void LoopSource::ask() {
  if (state_.trace() && of_ == state_.trace()) return emit answered();
  is_asked_ = true;
  if (!isComputing()) look();
}

void LoopSource::look() {
  const std::shared_ptr<const Trace> trace = state_.trace();
  if (!trace || trace->provenance().outline_only) return job_.cancel();  // an outline has no ranges of its own
  job_.start([this, trace](const LatestJob::Context& job) {
    QElapsedTimer clock;
    clock.start();
    job.deliver([this, trace, loop = loop_of(*trace), took = clock.elapsed()] {
      paced_.tookMilliseconds(took);
      loop_ = loop ? std::optional(Loop{loop->range, title_of(*loop)}) : std::nullopt;
      of_ = trace;
      emit found();
      if (std::exchange(is_asked_, false)) emit answered();
    });
  });
}

}  // namespace lanescope::ui
