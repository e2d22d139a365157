#include "launches.h"

#include "model/events/launch_index.h"
#include "natural_sort.h"

namespace lanescope::stats {

std::map<ThreadId, std::vector<Launch>> launches_by_thread(const Selection& selection, std::initializer_list<TrackKind> kinds) {
  const Trace& trace = selection.trace();
  const LaunchIndex index(trace);
  std::map<ThreadId, std::vector<Launch>> threads;
  const Lane* lane = nullptr;  // of the last call, and its thread's launches
  LaneId lane_id = kNone;
  std::vector<Launch>* launches = nullptr;
  for (const TrackKind kind : kinds) {
    selection.for_each(kind, [&](const Track& track, const EventView& operation) {
      const EventRef call = index.find(track.key.process, operation.correlation());
      if (!call.valid()) return;
      if (call.lane != lane_id) {
        lane_id = call.lane;
        lane = &trace.lane(lane_id);
        launches = &threads[trace.track_of(lane_id).key.thread];
      }
      const Nanoseconds begin = lane->start(call.index);
      launches->push_back({kind, operation.ref, {operation.start(), operation.end()}, call, {begin, begin + lane->duration(call.index)}});
    });
  }
  for (auto& [thread, list] : threads)
    natural_sort(list, [](const Launch& a, const Launch& b) { return a.call_time.begin < b.call_time.begin; });
  return threads;
}

}  // namespace lanescope::stats
