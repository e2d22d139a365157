// Every call of the CUDA API.
#include "../by_start.h"
#include "../columns/run_column.h"
#include "../label_groups.h"
#include "../report_functions.h"
#include "event_columns.h"

namespace lanescope::stats {

Table cuda_api_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  Table table;
  const SharedEvents calls = list_events(trace, events_by_start(selection, {TrackKind::kCudaApi}));
  std::vector<TextId> thread_names;
  for (const Thread& thread : trace.threads()) thread_names.push_back(table.add_text(thread.name));
  std::vector<TextId> functions(trace.name_count());  // by name, of those that occur
  for (const EventRef call : calls->events) {
    const NameId name = calls->lanes[call.lane].name(call.index);
    if (functions[name] == TextId{0}) functions[name] = table.add_text(std::string(api_display_name(trace.name(name))));
  }
  std::vector<std::int64_t> results;  // by detail
  for (std::size_t row = 0; row < calls->events.size(); ++row)
    for (auto id = static_cast<DetailId>(results.size()); id <= calls->lane(row).detail(calls->events[row].index); ++id)
      results.push_back(trace.api_detail(id).result);

  const auto starts = [](const Lane& lane, EventIndex i) { return lane.start(i); };
  const auto durations = [](const Lane& lane, EventIndex i) { return lane.duration(i); };
  const auto correlations = [](const Lane& lane, EventIndex i) { return std::int64_t{lane.correlation(i)}; };
  const auto names = [functions = std::move(functions)](const Lane& lane, EventIndex i) { return functions[lane.name(i)]; };
  const auto result_of = [results = std::move(results)](const Lane& lane, EventIndex i) { return results[lane.detail(i)]; };
  const auto of_threads = [&](auto value) {
    return of_tracks(calls, trace, [&, value](const Track& track) {
      using Result = decltype(value(trace.threads().front()));
      return track.key.thread != kNone ? value(trace.threads()[track.key.thread]) : Result{};
    });
  };
  const auto pid = [&](const Thread& thread) { return std::int64_t{trace.processes()[thread.process].pid}; };
  const auto tid = [](const Thread& thread) { return std::int64_t{thread.tid}; };
  const auto priority = [](const Thread& thread) { return thread.priority ? std::int64_t{*thread.priority} : kNoInteger; };
  const auto thread_name = [&](const Thread& thread) { return thread_names[static_cast<std::size_t>(&thread - trace.threads().data())]; };
  table.set_columns({{"Start", Unit::kNanoseconds, of_events(calls, starts)},
                     {"Duration", Unit::kNanoseconds, of_events(calls, durations)},
                     {"Name", Unit::kNone, of_events(calls, names)},
                     {"Result", Unit::kNone, of_events(calls, result_of)},
                     {"CorrID", Unit::kIdentifier, of_events(calls, correlations)},
                     {"Pid", Unit::kIdentifier, of_threads(pid)},
                     {"Tid", Unit::kIdentifier, of_threads(tid)},
                     {"T-Pri", Unit::kIdentifier, of_threads(priority)},
                     {"Thread Name", Unit::kNone, of_threads(thread_name)}},
                    calls->events.size());
  add_origins(trace, table, [&](std::size_t row) { return trace.track_of(calls->events[row].lane).key.process; });
  return table;
}

}  // namespace lanescope::stats
