#include "xla_modules.h"

#include <algorithm>
#include <vector>

#include "threads/call_class.h"
#include "threads/range_lookup.h"

namespace lanescope::analysis {
namespace {

bool is_xla_compilation(std::string_view range) noexcept { return range.starts_with("XlaCompile") || range.starts_with("XlaAutotuner"); }

}  // namespace

bool is_of_xla(std::string_view range) noexcept { return range.starts_with("Xla") || range.starts_with("Thunk:#"); }

// Without "hlo_module=" it is a part of compilation.
bool is_xla_execution(std::string_view range) noexcept { return range.starts_with("XlaModule:#") && range.find("hlo_module=") != std::string_view::npos; }

XlaCompilation::XlaCompilation(const Trace& trace) {
  NameMemo<bool> compiles(trace, is_xla_compilation);
  std::map<ProcessId, std::vector<TimeRange>> ranges;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (compiles(lane.name(i))) ranges[track.key.process].push_back({lane.start(i), lane.end(i)});
    }
  }
  for (auto& [process, of_process] : ranges) {
    std::sort(of_process.begin(), of_process.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    IntervalUnion::Writer writer;
    for (const TimeRange& range : of_process) writer.add(range.begin, range.end);
    by_process_[process] = writer.take();
  }
}

bool XlaCompilation::is_under_way(ProcessId process, Nanoseconds t) const noexcept {
  const auto found = by_process_.find(process);
  return found != by_process_.end() && found->second.covered({t, t + 1}) > 0;
}

std::map<std::pair<LaneId, FamilyId>, Nanoseconds> gpu_time_of_xla_executions(const Trace& trace, Families& families, const XlaCompilation& compilation,
                                                                              const std::set<ProcessId>& processes, const LaunchIndex& launches) {
  RangeLookup ranges(trace);
  NameMemo<bool> executes(trace, is_xla_execution);
  std::map<std::pair<LaneId, FamilyId>, Nanoseconds> times;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind) || !processes.contains(track.key.process)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const EventRef launch = launches.find(track.key.process, lane.correlation(i), lane.start(i));
        if (!launch.valid()) continue;
        const Nanoseconds launched_at = trace.lane(launch.lane).start(launch.index);
        if (compilation.is_under_way(track.key.process, launched_at)) continue;
        ranges.for_each(trace.track_of(launch.lane).key.thread, launched_at, [&](EventRef range) {
          const NameId name = trace.lane(range.lane).name(range.index);
          if (executes(name)) times[{range.lane, families.of_name(name)}] += lane.duration(i);
        });
      }
    }
  }
  return times;
}

}  // namespace lanescope::analysis
