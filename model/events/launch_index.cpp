#include "model/events/launch_index.h"

#include <algorithm>

namespace lanescope {
namespace {

// The lanes of the process's CUDA calls, inner ones first, so that outer calls overwrite them.
std::vector<LaneId> call_lanes_inner_first(const Trace& trace, ProcessId process) {
  std::vector<LaneId> lanes;
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kCudaApi && track.key.process == process)
      lanes.insert(lanes.end(), track.lanes.rbegin(), track.lanes.rend());
  return lanes;
}

}  // namespace

LaunchIndex::LaunchIndex(const Trace& trace, std::stop_token stop) {
  for (ProcessId process = 0; process < trace.processes().size(); ++process) calls_.push_back(index_calls(trace, process, stop));
}

LaunchIndex::Calls LaunchIndex::index_calls(const Trace& trace, ProcessId process, std::stop_token stop) {
  std::vector<std::pair<std::uint32_t, EventRef>> calls;
  for (const LaneId id : call_lanes_inner_first(trace, process)) {
    if (stop.stop_requested()) return {};
    const Lane& lane = trace.lane(id);
    for (EventIndex i = 0; i < lane.size(); ++i)
      if (lane.correlation(i) != 0) calls.emplace_back(lane.correlation(i), EventRef{id, i});
  }
  Calls index;
  if (calls.empty()) return index;
  const auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto [low, high] = std::minmax_element(calls.begin(), calls.end(), by_id);
  const std::uint64_t span = std::uint64_t{high->first} - low->first + 1;
  index.smallest = low->first;
  if (span <= 4 * calls.size() + 1024) {
    index.dense.resize(span);
    for (const auto& [correlation, call] : calls) index.dense[correlation - index.smallest] = call;
  } else {
    std::stable_sort(calls.begin(), calls.end(), by_id);
    index.sparse = std::move(calls);
  }
  return index;
}

EventRef LaunchIndex::find(ProcessId process, std::uint32_t correlation) const noexcept {
  if (process >= calls_.size() || correlation == 0) return {};
  const Calls& calls = calls_[process];
  if (!calls.dense.empty()) {
    const std::uint32_t offset = correlation - calls.smallest;  // wraps around to something large below the smallest
    return offset < calls.dense.size() ? calls.dense[offset] : EventRef{};
  }
  const auto after = std::upper_bound(calls.sparse.begin(), calls.sparse.end(), correlation,
                                      [](std::uint32_t id, const auto& call) { return id < call.first; });
  if (after == calls.sparse.begin() || std::prev(after)->first != correlation) return {};
  return std::prev(after)->second;  // the last of equal ids: the outermost
}

}  // namespace lanescope
