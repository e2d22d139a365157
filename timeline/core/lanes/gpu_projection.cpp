#include "timeline/core/lanes/gpu_projection.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

// The GPU work of each API call of a process: by correlation id, from the start of the first operation to the end of the last.
class WorkOfCalls {
 public:
  WorkOfCalls() = default;
  WorkOfCalls(const Trace& trace, ProcessId process, GpuId gpu) {
    std::vector<const Lane*> lanes;
    std::uint64_t events = 0;
    std::uint32_t largest = 0;
    for (const Track& track : trace.tracks()) {
      if (track.key.process != process || track.key.gpu != gpu || !is_gpu_work(track.key.kind)) continue;
      for (const LaneId id : track.lanes) {
        lanes.push_back(&trace.lane(id));
        events += lanes.back()->size();
        for (std::size_t s = 0; s < lanes.back()->segment_count(); ++s) {
          const CorrelationBounds ids = lanes.back()->segment_correlations(s);
          first_ = std::min(first_, std::max(1u, ids.least));
          largest = std::max(largest, ids.greatest);
        }
      }
    }
    if (largest < first_) return;  // no event has an id
    const std::uint64_t ids = std::uint64_t{largest} - first_ + 1;
    dense_ = ids <= kSparsest * (events + 1);
    if (dense_) by_id_.resize(ids, kNoWork);
    for (const Lane* lane : lanes)
      for (EventIndex i = 0; i < lane->size(); ++i)
        if (const std::uint32_t id = lane->correlation(i); id != 0) add(id, {lane->start(i), lane->end(i)});
    if (!dense_) sort();
  }

  [[nodiscard]] std::optional<TimeRange> find(std::uint32_t correlation) const noexcept {
    if (correlation < first_) return std::nullopt;
    if (dense_) {
      if (correlation - first_ >= by_id_.size() || by_id_[correlation - first_] == kNoWork) return std::nullopt;
      return by_id_[correlation - first_];
    }
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), correlation, [](const auto& each, std::uint32_t id) { return each.first < id; });
    if (found == sorted_.end() || found->first != correlation) return std::nullopt;
    return found->second;
  }

 private:
  static constexpr std::uint64_t kSparsest = 4;  // ids per event up to which a table of all ids is used
  static constexpr TimeRange kNoWork{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};

  static void extend(TimeRange& hull, TimeRange by) { hull = {std::min(hull.begin, by.begin), std::max(hull.end, by.end)}; }
  void add(std::uint32_t id, TimeRange time) {
    if (dense_)
      extend(by_id_[id - first_], time);
    else
      sorted_.emplace_back(id, time);
  }
  void sort() {
    std::stable_sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (const auto& entry : sorted_) {
      if (kept > 0 && sorted_[kept - 1].first == entry.first)
        extend(sorted_[kept - 1].second, entry.second);
      else
        sorted_[kept++] = entry;
    }
    sorted_.resize(kept);
  }

  std::uint32_t first_ = kNone;  // the smallest id
  bool dense_ = false;
  std::vector<TimeRange> by_id_;  // starting with the smallest id
  std::vector<std::pair<std::uint32_t, TimeRange>> sorted_;
};

// The work that the calls of a thread launched, by the starts of the calls.
struct Launch {
  Nanoseconds call = 0;
  TimeRange work;
};

// `lanes`: the lanes of the thread's calls.
std::vector<Launch> launches_of(const std::vector<const Lane*>& lanes, const WorkOfCalls& work) {
  std::size_t calls = 0;
  for (const Lane* lane : lanes) calls += lane->size();
  std::vector<Launch> launches;
  launches.reserve(calls);  // an upper bound: pages that are not written take no memory
  for (const Lane* lane : lanes)
    for (EventIndex i = 0; i < lane->size(); ++i)
      if (const auto found = work.find(lane->correlation(i))) launches.push_back({lane->start(i), *found});
  const auto earlier = [](const Launch& a, const Launch& b) { return a.call < b.call; };
  if (!std::is_sorted(launches.begin(), launches.end(), earlier)) std::stable_sort(launches.begin(), launches.end(), earlier);
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

std::vector<ProjectedLane> project(const Lane& ranges, const std::vector<Launch>& launches) {
  std::vector<Projected> projected;
  auto next = launches.begin();
  for (EventIndex i = 0; i < ranges.size(); ++i) {
    Event event = ranges.event(i);
    while (next != launches.end() && next->call < event.start) ++next;
    if (next == launches.end() || next->call >= event.end()) continue;
    TimeRange hull = next->work;
    for (; next != launches.end() && next->call < event.end(); ++next) hull = {std::min(hull.begin, next->work.begin), std::max(hull.end, next->work.end)};
    event.start = hull.begin;
    event.duration = hull.length();
    projected.push_back({event, i});
  }
  std::stable_sort(projected.begin(), projected.end(), [](const Projected& a, const Projected& b) { return a.event.start < b.event.start; });

  std::vector<std::vector<Projected>> rows;  // a range gets the first row in which it overlaps nothing
  std::priority_queue<std::pair<Nanoseconds, std::size_t>, std::vector<std::pair<Nanoseconds, std::size_t>>, std::greater<>> busy;  // by their ends
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  for (const Projected& range : projected) {
    for (; !busy.empty() && busy.top().first <= range.event.start; busy.pop()) free.push(busy.top().second);
    const std::size_t row = free.empty() ? rows.size() : free.top();
    if (free.empty())
      rows.emplace_back();
    else
      free.pop();
    rows[row].push_back(range);
    busy.emplace(range.event.end(), row);
  }
  std::vector<ProjectedLane> lanes;
  for (const auto& row : rows) {
    ProjectedLane& lane = lanes.emplace_back();
    lane.lane = std::make_shared<const Lane>(lane_of(row));
    for (const Projected& range : row) lane.sources.push_back(range.source);
  }
  return lanes;
}

}  // namespace

std::vector<std::vector<ProjectedLane>> project_on_gpu(const Trace& trace, std::span<const LaneId> ranges, GpuId gpu) {
  std::map<ProcessId, WorkOfCalls> work;
  std::map<ThreadId, std::vector<Launch>> launches;
  for (const LaneId id : ranges) {
    work.try_emplace(trace.track_of(id).key.process);
    launches.try_emplace(trace.track_of(id).key.thread);
  }
  std::vector<std::pair<const ProcessId, WorkOfCalls>*> processes;
  for (auto& entry : work) processes.push_back(&entry);
  work_in_parts(processes.size(), [&](std::size_t i) { processes[i]->second = WorkOfCalls(trace, processes[i]->first, gpu); });
  std::vector<std::vector<const Lane*>> calls(trace.threads().size());  // by thread: lanes of its calls
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kCudaApi && track.key.thread != kNone)
      for (const LaneId id : track.lanes) calls[track.key.thread].push_back(&trace.lane(id));
  std::vector<std::pair<const ThreadId, std::vector<Launch>>*> threads;
  for (auto& entry : launches) threads.push_back(&entry);
  work_in_parts(threads.size(), [&](std::size_t i) {
    const ThreadId thread = threads[i]->first;
    threads[i]->second = launches_of(calls[thread], work.at(trace.threads()[thread].process));
  });
  std::vector<std::vector<ProjectedLane>> projected(ranges.size());
  work_in_parts(ranges.size(), [&](std::size_t i) { projected[i] = project(trace.lane(ranges[i]), launches.at(trace.track_of(ranges[i]).key.thread)); });
  return projected;
}

}  // namespace lanescope::timeline
