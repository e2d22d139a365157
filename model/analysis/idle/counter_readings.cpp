#include "counter_readings.h"

#include <algorithm>

#include "model/trace/kernel_records.h"
#include "threads/thread_activity.h"

namespace lanescope::analysis {

std::vector<CounterReading> counter_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop) {
  std::vector<CounterReading> readings;
  if (trace.kernel_records().measured.empty() && trace.kernel_records().counted.empty()) return readings;
  const NameClasses names(trace);
  std::vector<std::uint64_t> measured(names.measured.begin(), names.measured.end());
  std::sort(measured.begin(), measured.end());
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels) continue;
    const std::uint64_t of_process = std::uint64_t{track.key.process} << 32;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (std::size_t segment = 0; segment < lane.segment_count(); ++segment) {
        // A segment without an id of those that were measured need not be decoded.
        const CorrelationBounds ids = lane.segment_correlations(segment);
        const auto next = std::lower_bound(measured.begin(), measured.end(), of_process | ids.least);
        if (next == measured.end() || *next > (of_process | ids.greatest)) continue;
        const auto first = static_cast<EventIndex>(segment * LaneSegment::kCapacity);
        const EventIndex end = first + std::min<EventIndex>(LaneSegment::kCapacity, lane.size() - first);
        for (EventIndex i = first; i < end && !stop.stop_requested(); ++i) {
          if (!names.is_measured(track.key.process, lane.correlation(i))) continue;
          const EventRef call = launches.find(track.key.process, lane.correlation(i), lane.start(i));
          if (!call.valid()) continue;
          const Lane& calls = trace.lane(call.lane);
          readings.push_back({track.key.process, track.key.gpu, {calls.start(call.index), calls.end(call.index)}, calls.name(call.index)});
        }
      }
    }
  }
  return readings;
}

ReadingTimes::ReadingTimes(const std::vector<CounterReading>& readings) {
  for (const CounterReading& reading : readings) begins_[reading.process].push_back(reading.time.begin);
  for (auto& [process, begins] : begins_) std::sort(begins.begin(), begins.end());
}

bool ReadingTimes::any_in(ProcessId process, TimeRange time) const {
  const auto begins = begins_.find(process);
  if (begins == begins_.end()) return false;
  const auto first = std::lower_bound(begins->second.begin(), begins->second.end(), time.begin);
  return first != begins->second.end() && *first < time.end;
}

}  // namespace lanescope::analysis
