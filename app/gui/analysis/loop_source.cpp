#include "analysis/loop_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <QElapsedTimer>

#include "model/analysis/loop/loop.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
namespace {

// What is known of it, in no language: it is named on the GUI thread.
struct KnownLoop {
  TimeRange range;
  std::string run;     // empty where none are compared
  std::string family;  // empty: its GPU work alone tells it
  std::size_t iterations = 0;
  std::size_t processes = 0;  // that take part
};

// By run, A first.
std::vector<KnownLoop> loops_of(const Trace& trace) {
  const analysis::LoopTimes times = analysis::loop_times(trace);
  std::map<ProcessId, std::string_view> run_of_process;
  for (const Track& track : trace.tracks())
    if (times.by_process.contains(track.key.process)) run_of_process.emplace(track.key.process, run_of(trace, track));
  std::map<std::string_view, KnownLoop> by_run;
  for (const auto& [process, time] : times.by_process) {
    const std::string_view run = run_of_process[process];
    KnownLoop& known = by_run.try_emplace(run, KnownLoop{time, std::string(run), times.name, times.iterations, 0}).first->second;
    known.range = {std::min(known.range.begin, time.begin), std::max(known.range.end, time.end)};
    ++known.processes;
  }
  std::vector<KnownLoop> loops;
  for (auto& [run, known] : by_run) loops.push_back(std::move(known));
  return loops;
}

QString title_of(const KnownLoop& loop) {
  const QString family = QString::fromStdString(loop.family);
  if (!loop.run.empty()) {
    const QString run = QString::fromStdString(loop.run);
    return loop.family.empty() ? LoopSource::tr("loop of GPU work of %1").arg(run) : LoopSource::tr("loop \"%1\" of %2").arg(family, run);
  }
  if (loop.family.empty()) return LoopSource::tr("loop of GPU work");
  if (loop.processes > 1) return LoopSource::tr("loop \"%1\" of %n processes", nullptr, static_cast<int>(loop.processes)).arg(family);
  return LoopSource::tr("loop \"%1\", %n iterations", nullptr, static_cast<int>(loop.iterations)).arg(family);
}

}  // namespace

LoopSource::LoopSource(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return paced_.request();
    loops_.clear();
    of_.reset();
    asked_.reset();
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

void LoopSource::ask(timeline::LoopUse use) {
  if (state_.trace() && of_ == state_.trace()) return emit answered(use);
  asked_ = use;
  if (!isComputing()) look();
}

void LoopSource::look() {
  const std::shared_ptr<const Trace> trace = state_.trace();
  if (!trace || trace->provenance().outline_only) return job_.cancel();  // an outline has no ranges of its own
  job_.start([this, trace](const LatestJob::Context& job) {
    QElapsedTimer clock;
    clock.start();
    std::vector<KnownLoop> loops = loops_of(*trace);
    if (has_substitutes(*trace)) loops.clear();  // of events that stand for others
    job.deliver([this, trace, loops = std::move(loops), took = clock.elapsed()] {
      paced_.tookMilliseconds(took);
      loops_.clear();
      for (const KnownLoop& loop : loops) loops_.push_back({loop.range, title_of(loop)});
      of_ = trace;
      emit found();
      if (const auto use = std::exchange(asked_, std::nullopt)) emit answered(*use);
    });
  });
}

}  // namespace lanescope::ui
