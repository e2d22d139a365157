// Calls that wait for all work of a device or a stream.
#include <algorithm>

#include "common.h"
#include "nsight_rules.h"

namespace lanescope::analysis {

Result<RuleAnswer> find_synchronizing_calls(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const auto selection = select(context, arguments);
  if (!selection) return selection.error();
  std::vector<bool> waits(trace.name_count());
  for (NameId name = 0; name < waits.size(); ++name)
    waits[name] = trace.name(name).starts_with("cudaDeviceSynchronize") || trace.name(name).starts_with("cudaStreamSynchronize");
  const auto is_wanted = [](std::int64_t id, std::int64_t wanted) { return wanted < 0 || id == wanted; };

  struct Call {
    Nanoseconds start, duration;
    EventRef ref;
    ThreadId thread;
    NameId name;
  };
  const auto comes_before = [](const Call& a, const Call& b) {
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.start != b.start ? a.start < b.start : a.ref < b.ref;
  };
  Foremost<Call, decltype(comes_before)> longest(row_limit(arguments), comes_before);
  selection->for_each(TrackKind::kCudaApi, [&](const Track& track, const stats::EventView& call) {
    if (!waits[call.name()]) return;
    const Thread& thread = trace.threads()[track.key.thread];
    if (is_wanted(trace.processes()[thread.process].pid, arguments.integer("process")) && is_wanted(thread.tid, arguments.integer("thread")))
      longest.add({call.start(), call.duration(), call.ref, track.key.thread, call.name()});
  });

  using stats::Unit;
  stats::Table table({stats::integers("Duration", Unit::kNanoseconds), stats::integers("Start", Unit::kNanoseconds), stats::identifiers("PID"),
                      stats::identifiers("TID"), stats::texts("API Name")});
  for (const Call& call : longest.take()) {
    const Thread& thread = trace.threads()[call.thread];
    table.add_row(call.duration, call.start, std::int64_t{trace.processes()[thread.process].pid}, std::int64_t{thread.tid},
                  table.add_text(std::string(trace.name(call.name))));
  }
  return answer("cuda_api_sync", "Synchronizing calls", std::move(table), longest.added(), "No call waited for a whole device or stream.");
}

}  // namespace lanescope::analysis
