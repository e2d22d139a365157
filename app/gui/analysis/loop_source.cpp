#include "analysis/loop_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/analysis/loop/loop.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
namespace {

// Facts about the loop without translated words: it is named on the GUI thread.
struct KnownLoop {
  TimeRange range;
  std::string run;     // empty if no runs are compared
  std::string family;  // empty: it was found by GPU work alone
  std::size_t iterations = 0;
  std::size_t processes = 0;  // that take part
};

// By run, A first, and by name: each of several programs that were recorded together has its own loop.
std::vector<KnownLoop> loops_of(const Trace& trace) {
  const std::map<ProcessId, analysis::LoopTime> times = analysis::loop_times(trace);
  std::map<ProcessId, std::string_view> run_of_process;
  for (const Track& track : trace.tracks())
    if (times.contains(track.key.process)) run_of_process.emplace(track.key.process, run_of(trace, track));
  std::map<std::pair<std::string_view, std::string_view>, KnownLoop> by_name;
  for (const auto& [process, loop] : times) {
    const std::string_view run = run_of_process[process];
    KnownLoop& known = by_name.try_emplace({run, loop.name}, KnownLoop{loop.time, std::string(run), loop.name, 0, 0}).first->second;
    known.range = {std::min(known.range.begin, loop.time.begin), std::max(known.range.end, loop.time.end)};
    known.iterations += loop.iterations;
    ++known.processes;
  }
  std::vector<KnownLoop> loops;
  for (auto& [name, known] : by_name) loops.push_back(std::move(known));
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

// Traces with more events than fit into memory are searched only on request.
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
    std::vector<KnownLoop> loops = loops_of(*trace);
    if (has_substitutes(*trace)) loops.clear();  // unreadable events were replaced by others
    job.deliver([this, trace, loops = std::move(loops)] {
      loops_.clear();
      for (const KnownLoop& loop : loops) loops_.push_back({loop.range, title_of(loop)});
      of_ = trace;
      emit found();
      if (const auto use = std::exchange(asked_, std::nullopt)) emit answered(*use);
    });
  });
}

}  // namespace lanescope::ui
