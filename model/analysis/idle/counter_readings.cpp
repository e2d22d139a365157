#include "counter_readings.h"

#include <algorithm>

#include "model/trace/measured_calls.h"

namespace lanescope::analysis {

namespace {

// Calls visit(track, event) for the events of tracks of this kind that have the id of a measured launch.
template <typename Visit>
void for_each_measured(const Trace& trace, TrackKind kind, const std::stop_token& stop, Visit visit) {
  if (!MeasuredCalls::any(trace)) return;
  const MeasuredCalls calls = MeasuredCalls::known(trace);
  std::vector<std::uint64_t> measured(calls.keys().begin(), calls.keys().end());
  std::sort(measured.begin(), measured.end());
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    const std::uint64_t of_process = std::uint64_t{track.key.process} << 32;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (std::size_t segment = 0; segment < lane.segment_count(); ++segment) {
        // A segment without an id of a measured launch need not be decoded.
        const CorrelationBounds ids = lane.segment_correlations(segment);
        const auto next = std::lower_bound(measured.begin(), measured.end(), of_process | ids.least);
        if (next == measured.end() || *next > (of_process | ids.greatest)) continue;
        const auto first = static_cast<EventIndex>(segment * LaneSegment::kCapacity);
        const EventIndex end = first + std::min<EventIndex>(LaneSegment::kCapacity, lane.size() - first);
        for (EventIndex i = first; i < end && !stop.stop_requested(); ++i)
          if (calls.contains(track.key.process, lane.correlation(i))) visit(track, EventRef{id, i});
      }
    }
  }
}

// Sorts the times, and unites those that are at most `apart` from each other.
void unite(std::vector<TimeRange>& times, Nanoseconds apart) {
  std::sort(times.begin(), times.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const TimeRange& time : times) {
    if (kept > 0 && time.begin - times[kept - 1].end <= apart)
      times[kept - 1].end = std::max(times[kept - 1].end, time.end);
    else
      times[kept++] = time;
  }
  times.resize(kept);
}

}  // namespace

std::set<GpuId> gpus_with_readings(const Trace& trace) {
  std::set<GpuId> gpus;
  if (!MeasuredCalls::any(trace)) return gpus;
  const MeasuredCalls calls = MeasuredCalls::known(trace);
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind) && calls.has_any(track.key.process)) gpus.insert(track.key.gpu);
  return gpus;
}

std::vector<CounterReading> counter_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop) {
  std::vector<CounterReading> readings;
  for_each_measured(trace, TrackKind::kKernels, stop, [&](const Track& track, EventRef kernel) {
    const Lane& lane = trace.lane(kernel.lane);
    const EventRef call = launches.find(track.key.process, lane.correlation(kernel.index), lane.start(kernel.index));
    if (!call.valid()) return;
    const Lane& calls = trace.lane(call.lane);
    readings.push_back({track.key.process, track.key.gpu, {calls.start(call.index), calls.end(call.index)}, calls.name(call.index)});
  });
  return readings;
}

std::vector<TimeRange> overhead_times(const Trace& trace, const std::stop_token& stop, std::size_t most) {
  std::vector<TimeRange> times;
  Nanoseconds apart = 1'000;
  const auto keep_few = [&] {
    for (; times.size() > most; apart *= 2) unite(times, apart);
  };
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kOverhead) continue;
    for (const LaneId id : track.lanes)
      for (std::size_t s = 0; s < trace.lane(id).segment_count() && !stop.stop_requested(); ++s) {
        const SegmentTimes of_segment = trace.lane(id).times(s);
        for (EventIndex i = 0; i < of_segment.size(); ++i) times.push_back({of_segment.start(i), of_segment.end(i)});
        keep_few();
      }
  }
  for_each_measured(trace, TrackKind::kCudaApi, stop, [&](const Track&, EventRef call) {
    const Lane& calls = trace.lane(call.lane);
    times.push_back({calls.start(call.index), calls.end(call.index)});
  });
  keep_few();
  return times;
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
