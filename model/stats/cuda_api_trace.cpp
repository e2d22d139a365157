// Every call of the CUDA API.
#include "by_start.h"
#include "label_groups.h"
#include "report_functions.h"

namespace lanescope::stats {

Table cuda_api_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  Table table({integers("Start", Unit::kNanoseconds), integers("Duration", Unit::kNanoseconds), texts("Name"), integers("Result"),
               identifiers("CorrID"), identifiers("Pid"), identifiers("Tid"), identifiers("T-Pri"), texts("Thread Name")});
  NameTexts names(table, trace);
  std::vector<TextId> thread_names;
  for (const Thread& thread : trace.threads()) thread_names.push_back(table.add_text(thread.name));

  const std::vector<StartedEvent> events = events_by_start(selection, {TrackKind::kCudaApi});
  table.reserve(events.size());
  for (const StartedEvent& event : events) {
    const Event call = trace.event(event.ref);
    const ThreadId thread_id = trace.track_of(event.ref.lane).key.thread;
    const Thread& thread = trace.threads()[thread_id];
    table.add_row(call.start, call.duration, names(call.name, [&](NameId name) { return api_display_name(trace.name(name)); }),
                  std::int64_t{trace.api_detail(call.detail).result}, std::int64_t{call.correlation},
                  std::int64_t{trace.processes()[thread.process].pid}, std::int64_t{thread.tid},
                  thread.priority ? std::int64_t{*thread.priority} : kNoInteger, thread_names[thread_id]);
  }
  return table;
}

}  // namespace lanescope::stats
