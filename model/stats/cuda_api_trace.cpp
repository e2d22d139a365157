// Every call of the CUDA API.
#include "by_start.h"
#include "event_columns.h"
#include "label_groups.h"
#include "report_functions.h"

namespace lanescope::stats {

Table cuda_api_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  Table table;
  NameTexts names(table, trace);
  std::vector<TextId> thread_names;
  for (const Thread& thread : trace.threads()) thread_names.push_back(table.add_text(thread.name));
  const std::vector<EventRef> calls = events_by_start(selection, {TrackKind::kCudaApi});
  const auto lane = [&](EventRef call) -> const Lane& { return trace.lane(call.lane); };

  Integers starts, durations, correlations, results;
  Texts functions;
  Places threads;
  run_all(
      {[&] { starts = column_of<Integers>(calls, [&](EventRef call) { return lane(call).start(call.index); }); },
       [&] { durations = column_of<Integers>(calls, [&](EventRef call) { return lane(call).duration(call.index); }); },
       [&] { correlations = column_of<Integers>(calls, [&](EventRef call) { return lane(call).correlation(call.index); }); },
       [&] { results = column_of<Integers>(calls, [&](EventRef call) { return trace.api_detail(lane(call).detail(call.index)).result; }); },
       [&] {
         functions = column_of<Texts>(calls, [&](EventRef call) {
           return names(lane(call).name(call.index), [&](NameId name) { return api_display_name(trace.name(name)); });
         });
       },
       [&] { threads = places_of(calls, [&](EventRef call) { return trace.track_of(call.lane).key.thread; }); }});

  const auto of_threads = [&](auto value) { return shared_integers(threads, trace.threads(), value); };
  const auto name = [&](const Thread& thread) { return thread_names[static_cast<std::size_t>(&thread - trace.threads().data())]; };
  table.set_columns({{"Start", Unit::kNanoseconds, std::move(starts)},
                     {"Duration", Unit::kNanoseconds, std::move(durations)},
                     {"Name", Unit::kNone, std::move(functions)},
                     {"Result", Unit::kNone, std::move(results)},
                     {"CorrID", Unit::kIdentifier, std::move(correlations)},
                     {"Pid", Unit::kIdentifier, of_threads([&](const Thread& thread) { return trace.processes()[thread.process].pid; })},
                     {"Tid", Unit::kIdentifier, of_threads([](const Thread& thread) { return thread.tid; })},
                     {"T-Pri", Unit::kIdentifier,
                      of_threads([](const Thread& thread) { return thread.priority ? std::int64_t{*thread.priority} : kNoInteger; })},
                     {"Thread Name", Unit::kNone, shared_texts(threads, trace.threads(), name)}},
                    calls.size());
  return table;
}

}  // namespace lanescope::stats
