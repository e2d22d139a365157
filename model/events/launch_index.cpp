#include "model/events/launch_index.h"

#include <algorithm>
#include <mutex>
#include <optional>

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

// Calls visit(correlation, call) for each call that has an id.
template <typename Visit>
void for_each_call(const Trace& trace, LaneId id, Visit visit) {
  EventIndex base = 0;
  for (const auto& segment : trace.lane(id).segments()) {
    for (EventIndex i = 0; i < segment->size(); ++i)
      if (const std::uint32_t correlation = segment->correlation(i); correlation != 0) visit(correlation, EventRef{id, base + i});
    base += segment->size();
  }
}

}  // namespace

LaunchIndex::LaunchIndex(const Trace& trace, std::stop_token stop) {
  for (ProcessId process = 0; process < trace.processes().size(); ++process) calls_.push_back(index_calls(trace, process, stop));
}

LaunchIndex::Calls LaunchIndex::index_calls(const Trace& trace, ProcessId process, std::stop_token stop) {
  const std::vector<LaneId> lanes = call_lanes_inner_first(trace, process);
  std::uint64_t count = 0;
  std::uint32_t smallest = kNone, largest = 0;
  for (const LaneId id : lanes) {
    count += trace.lane(id).size();
    for (const auto& segment : trace.lane(id).segments()) {
      largest = std::max(largest, segment->largest_correlation());
      smallest = std::min(smallest, std::max(1u, segment->smallest_correlation()));
    }
  }
  Calls index;
  if (largest == 0) return index;
  index.smallest = smallest;
  const std::uint64_t span = std::uint64_t{largest} - smallest + 1;
  const bool dense = span <= 4 * count + 1024;
  if (dense) index.dense.resize(span);
  for (const LaneId id : lanes) {
    if (stop.stop_requested()) return {};
    for_each_call(trace, id, [&](std::uint32_t correlation, EventRef call) {
      if (dense)
        index.dense[correlation - smallest] = call;
      else
        index.sparse.emplace_back(correlation, call);
    });
  }
  std::stable_sort(index.sparse.begin(), index.sparse.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return index;
}

struct SharedLaunchIndex::State {
  std::once_flag once;
  std::optional<LaunchIndex> index;
};
SharedLaunchIndex::SharedLaunchIndex() : state_(std::make_unique<State>()) {}
SharedLaunchIndex::~SharedLaunchIndex() = default;

const LaunchIndex& SharedLaunchIndex::of(const Trace& trace) {
  std::call_once(state_->once, [&] { state_->index.emplace(trace); });
  return *state_->index;
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
