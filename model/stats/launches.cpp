#include "launches.h"

#include "model/events/launch_index.h"
#include "model/trace/workers/parallel.h"
#include "natural_sort.h"

namespace lanescope::stats {

std::map<ThreadId, Launches> launches_by_thread(const Selection& selection, std::initializer_list<TrackKind> kinds) {
  const Trace& trace = selection.trace();
  const LaunchIndex& index = selection.launch_index();
  std::map<ThreadId, Launches> threads;
  LaneId last = kNone;  // lane of the last call, and its thread's launches
  Launches* launches = nullptr;
  for (const TrackKind kind : kinds) {
    selection.for_each(kind, [&](const Track& track, const EventView& operation) {
      const EventRef call = index.find(track.key.process, operation.correlation(), operation.start());
      if (!call.valid()) return;
      if (call.lane != last) {
        last = call.lane;
        launches = &threads[trace.track_of(call.lane).key.thread];
        if (launches->empty()) launches->reserve(trace.lane(operation.ref.lane).size());
      }
      launches->push_back({operation.ref, call});
    });
  }
  std::vector<Launches*> lists;
  for (auto& [thread, list] : threads) lists.push_back(&list);
  const auto begin = [&](const Launch& launch) { return trace.lane(launch.call.lane).start(launch.call.index); };
  parallel_for(lists.size(), [&](std::size_t i) { natural_sort(*lists[i], [&](const Launch& a, const Launch& b) { return begin(a) < begin(b); }); });
  return threads;
}

}  // namespace lanescope::stats
