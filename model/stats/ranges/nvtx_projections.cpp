#include "nvtx_projections.h"

#include <algorithm>

namespace lanescope::stats {

namespace {

// By thread and range.
using OfThreads = std::map<ThreadId, std::vector<Projection>>;

void add_operation(Projection& projection, TimeRange time) {
  projection.projected =
      projection.operations == 0 ? time : TimeRange{std::min(projection.projected.begin, time.begin), std::max(projection.projected.end, time.end)};
  ++projection.operations;
}

}  // namespace

std::vector<Projection> project(const Selection& selection, const CallRanges& ranges) {
  const Trace& trace = selection.trace();
  const LaunchIndex& index = selection.launch_index();
  OfThreads threads;
  for (const auto& [thread, of_thread] : ranges.ranges()) threads[thread].resize(of_thread.size());
  LaneId lane = kNone;  // lane of the last call, and the data of its thread
  const NvtxRange* first = nullptr;
  std::vector<Projection>* of_thread = nullptr;
  const auto add = [&](const Track& track, const EventView& operation) {
    const EventRef call = index.find(track.key.process, operation.correlation(), operation.start());
    const auto around = ranges.around(call);
    if (around.empty()) return;
    if (call.lane != lane) {
      lane = call.lane;
      const ThreadId thread = trace.track_of(lane).key.thread;
      first = ranges.ranges().at(thread).data();
      of_thread = &threads[thread];
    }
    for (const NvtxRange* range : around) add_operation((*of_thread)[static_cast<std::size_t>(range - first)], {operation.start(), operation.end()});
  };
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches}) selection.for_each(kind, add);

  std::vector<Projection> projections;
  for (auto& [thread, projected] : threads) {
    const std::vector<NvtxRange>& all = ranges.ranges().at(thread);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (projected[i].operations > 0 && all[i].parent != kNoRange) ++projected[all[i].parent].children;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (projected[i].operations == 0) continue;
      projected[i].ranges = &all;
      projected[i].index = i;
      projected[i].thread = thread;
      projections.push_back(projected[i]);
    }
  }
  return projections;
}

}  // namespace lanescope::stats
