#include "model/trace/measured_calls.h"

#include "model/trace/kernel_records.h"

namespace lanescope {

MeasuredCalls MeasuredCalls::recorded(const Trace& trace) {
  MeasuredCalls calls(trace.processes().size());
  for (const auto& launch : trace.kernel_records().measured) {
    calls.add(launch->process, launch->correlation, launch->spent);
    for (const std::uint32_t other : launch->other_launches) calls.add(launch->process, other, 0);
  }
  for (const auto& counts : trace.kernel_records().counted) calls.add(counts->process, counts->correlation, counts->spent);
  return calls;
}

MeasuredCalls MeasuredCalls::known(const Trace& trace) {
  MeasuredCalls calls = recorded(trace);
  const std::optional<NameId> reading = trace.find_name(kReadingOfCounters);
  if (!reading) return calls;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kOverhead) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (lane.name(i) == *reading && lane.correlation(i) != 0 && !calls.contains(track.key.process, lane.correlation(i)))
          calls.add(track.key.process, lane.correlation(i), lane.end(i) - lane.start(i));
    }
  }
  return calls;
}

bool MeasuredCalls::any(const Trace& trace) noexcept {
  return !trace.kernel_records().measured.empty() || !trace.kernel_records().counted.empty() || trace.find_name(kReadingOfCounters).has_value();
}

void MeasuredCalls::add(ProcessId process, std::uint32_t correlation, Nanoseconds spent) {
  if (process >= processes_.size()) return;
  processes_[process].has_any = true;
  processes_[process].spent += spent;
  keys_.insert(key_of(process, correlation));
}

}  // namespace lanescope
