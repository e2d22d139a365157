// How long each thread ran, was ready to run, and waited.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "../columns/run_column.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

struct ThreadTime {
  std::array<Nanoseconds, 4> of_state{};  // by ThreadState
  std::int64_t runs = 0;
  std::set<std::uint32_t> processors;
  [[nodiscard]] Nanoseconds in(ThreadState state) const { return of_state[static_cast<std::size_t>(state)]; }
  [[nodiscard]] Nanoseconds all() const { return of_state[0] + of_state[1] + of_state[2] + of_state[3]; }
};

}  // namespace

Table thread_states(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  std::map<ThreadId, ThreadTime> times;
  selection.for_each(TrackKind::kThreadStates, [&](const Track& track, const EventView& event) {
    const ThreadStateDetail& detail = trace.thread_state_detail(event.detail());
    TimeRange span{event.start(), event.end()};
    if (selection.time()) span = span.intersected(*selection.time());
    ThreadTime& thread = times[track.key.thread];
    thread.of_state[static_cast<std::size_t>(detail.state)] += span.length();
    if (detail.state == ThreadState::kRunning) ++thread.runs;
    if (detail.processor != kNone) thread.processors.insert(detail.processor);
  });
  std::vector<std::pair<ThreadId, ThreadTime>> rows(times.begin(), times.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.in(ThreadState::kRunning) > b.second.in(ThreadState::kRunning); });
  Table table({reals("Running", Unit::kPercent), integers("Running", Unit::kNanoseconds), integers("Runnable", Unit::kNanoseconds),
               integers("Blocked", Unit::kNanoseconds), integers("Unknown", Unit::kNanoseconds), integers("Runs"), integers("Avg Run", Unit::kNanoseconds),
               integers("CPUs"), identifiers("PID"), identifiers("TID"), texts("Thread Name")});
  for (const auto& [id, time] : rows) {
    const Thread& thread = trace.threads()[id];
    const Nanoseconds running = time.in(ThreadState::kRunning);
    table.add_row(time.all() > 0 ? 100.0 * static_cast<double>(running) / static_cast<double>(time.all()) : 0.0, running, time.in(ThreadState::kRunnable),
                  time.in(ThreadState::kBlocked), time.in(ThreadState::kUnknown), time.runs, time.runs > 0 ? running / time.runs : kNoInteger,
                  static_cast<std::int64_t>(time.processors.size()), std::int64_t{trace.processes()[thread.process].pid}, std::int64_t{thread.tid},
                  table.add_text(thread.name));
  }
  add_origins(trace, table, [&](std::size_t row) { return trace.threads()[rows[row].first].process; });
  return table;
}

}  // namespace lanescope::stats
