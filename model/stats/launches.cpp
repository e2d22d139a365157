#include "launches.h"

#include <algorithm>

#include "model/events/launch_index.h"

namespace lanescope::stats {

std::map<ThreadId, std::vector<Launch>> launches_by_thread(const Selection& selection, std::initializer_list<TrackKind> kinds) {
  const Trace& trace = selection.trace();
  const LaunchIndex index(trace);
  std::map<ThreadId, std::vector<Launch>> threads;
  for (const TrackKind kind : kinds) {
    selection.for_each(kind, [&](const Track& track, const EventView& operation) {
      const EventRef call = index.find(track.key.process, operation.correlation());
      if (!call.valid()) return;
      const Lane& lane = trace.lane(call.lane);
      threads[trace.track_of(call.lane).key.thread].push_back(
          {kind, operation.ref, {operation.start(), operation.end()}, call, {lane.start(call.index), lane.end(call.index)}});
    });
  }
  const auto by_call = [](const Launch& a, const Launch& b) { return a.call_time.begin < b.call_time.begin; };
  for (auto& [thread, launches] : threads)
    if (!std::is_sorted(launches.begin(), launches.end(), by_call)) std::stable_sort(launches.begin(), launches.end(), by_call);
  return threads;
}

}  // namespace lanescope::stats
