#include "timeline/core/gpu_projection.h"

#include <algorithm>

namespace lanescope::timeline {
namespace {

// Operations of one correlation id, from the first's beginning to the last's end.
struct Work {
  std::uint32_t correlation = 0;
  TimeRange time;
};

std::vector<Work> work_on_gpu(const Trace& trace, ProcessId process, GpuId gpu) {
  std::vector<Work> operations;
  for (const Track& track : trace.tracks()) {
    if (track.key.process != process || track.key.gpu != gpu || !is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (lane.correlation(i) != 0) operations.push_back({lane.correlation(i), {lane.start(i), lane.end(i)}});
    }
  }
  std::stable_sort(operations.begin(), operations.end(), [](const Work& a, const Work& b) { return a.correlation < b.correlation; });
  std::vector<Work> work;
  for (const Work& operation : operations) {
    if (work.empty() || work.back().correlation != operation.correlation) {
      work.push_back(operation);
      continue;
    }
    TimeRange& time = work.back().time;
    time = {std::min(time.begin, operation.time.begin), std::max(time.end, operation.time.end)};
  }
  return work;
}

// What a thread's calls launched, by the calls' beginnings.
struct Launch {
  Nanoseconds call = 0;
  TimeRange work;
};

std::vector<Launch> launches_of(const Trace& trace, ThreadId thread, const std::vector<Work>& work) {
  std::vector<Launch> launches;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kCudaApi || track.key.thread != thread) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const auto found = std::lower_bound(work.begin(), work.end(), lane.correlation(i),
                                            [](const Work& each, std::uint32_t correlation) { return each.correlation < correlation; });
        if (found != work.end() && found->correlation == lane.correlation(i)) launches.push_back({lane.start(i), found->time});
      }
    }
  }
  std::stable_sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) { return a.call < b.call; });
  return launches;
}

struct Projected {
  Event event;
  EventIndex source = 0;
};

Lane lane_of(const std::vector<Projected>& ranges) {
  std::vector<std::shared_ptr<const LaneSegment>> segments;
  std::vector<Event> events;
  for (const Projected& range : ranges) {
    events.push_back(range.event);
    if (events.size() < LaneSegment::kCapacity) continue;
    segments.push_back(std::make_shared<LaneSegment>(events));
    events.clear();
  }
  if (!events.empty()) segments.push_back(std::make_shared<LaneSegment>(events));
  return Lane(std::move(segments));
}

}  // namespace

std::vector<ProjectedLane> project_on_gpu(const Trace& trace, LaneId id, GpuId gpu) {
  const TrackKey& key = trace.track_of(id).key;
  const Lane& ranges = trace.lane(id);
  const std::vector<Launch> launches = launches_of(trace, key.thread, work_on_gpu(trace, key.process, gpu));
  std::vector<Projected> projected;
  auto next = launches.begin();
  for (EventIndex i = 0; i < ranges.size(); ++i) {
    Event event = ranges.event(i);
    while (next != launches.end() && next->call < event.start) ++next;
    if (next == launches.end() || next->call >= event.end()) continue;
    TimeRange hull = next->work;
    for (; next != launches.end() && next->call < event.end(); ++next)
      hull = {std::min(hull.begin, next->work.begin), std::max(hull.end, next->work.end)};
    event.start = hull.begin;
    event.duration = hull.length();
    projected.push_back({event, i});
  }
  std::stable_sort(projected.begin(), projected.end(),
                   [](const Projected& a, const Projected& b) { return a.event.start < b.event.start; });

  std::vector<std::vector<Projected>> rows;  // each takes the first in which it overlaps nothing
  for (const Projected& range : projected) {
    const auto free = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.back().event.end() <= range.event.start; });
    (free == rows.end() ? rows.emplace_back() : *free).push_back(range);
  }
  std::vector<ProjectedLane> lanes;
  for (const auto& row : rows) {
    ProjectedLane& lane = lanes.emplace_back();
    lane.lane = std::make_shared<const Lane>(lane_of(row));
    for (const Projected& range : row) lane.sources.push_back(range.source);
  }
  return lanes;
}

}  // namespace lanescope::timeline
