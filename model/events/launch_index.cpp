#include "model/events/launch_index.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

namespace lanescope {
namespace {

// The lanes of the process's CUDA calls, inner ones first, so that outer calls overwrite them.
std::vector<LaneId> call_lanes_inner_first(const Trace& trace, ProcessId process) {
  std::vector<LaneId> lanes;
  for (const TrackId id : trace.tracks_of(process, TrackKind::kCudaApi)) {
    const Track& track = trace.tracks()[id];
    lanes.insert(lanes.end(), track.lanes.rbegin(), track.lanes.rend());
  }
  return lanes;
}

// Calls visit(correlation, call) for each call that has an id.
template <typename Visit>
void for_each_call(const Trace& trace, LaneId id, Visit visit) {
  EventIndex base = 0;
  for (std::size_t s = 0; s < trace.lane(id).segment_count(); ++s) {
    const auto segment = trace.lane(id).segment(s);
    for (EventIndex i = 0; i < segment->size(); ++i)
      if (const std::uint32_t correlation = segment->correlation(i); correlation != 0) visit(correlation, EventRef{id, base + i});
    base += segment->size();
  }
}

// Whether one call lies within another of its thread.
bool is_within(const Trace& trace, EventRef inner, EventRef outer) {
  const Event a = trace.event(inner), b = trace.event(outer);
  return trace.track_of(inner.lane).key.thread == trace.track_of(outer.lane).key.thread && b.start <= a.start && a.end() <= b.end();
}

// First of the sorted elements that is not before the wanted one. Looks around the one that the thread found last, since work comes in order:
// O(log distance).
template <typename Element, typename Wanted, typename IsBefore>
const Element* near_lower_bound(const std::vector<Element>& sorted, const Wanted& wanted, IsBefore is_before) noexcept {
  thread_local std::size_t last = 0;  // whatever was sought, it only says where to begin
  const Element* const all = sorted.data();
  const std::size_t size = sorted.size(), from = std::min(last, size);
  std::size_t begin = from, end = from, step = 1;  // the answer lies in [begin, end]
  if (from < size && is_before(all[from], wanted)) {
    for (; end < size && is_before(all[end], wanted); step *= 2) {
      begin = end + 1;
      end = std::min(size, end + step);
    }
  } else {
    for (; begin > 0 && !is_before(all[begin - 1], wanted); step *= 2) {
      end = begin - 1;
      begin -= std::min(begin, step);
    }
  }
  const Element* const found = std::lower_bound(all + begin, all + end, wanted, is_before);
  last = static_cast<std::size_t>(found - all);
  return found;
}

}  // namespace

LaunchIndex::LaunchIndex(const Trace& trace, std::stop_token stop) {
  for (ProcessId process = 0; process < trace.processes().size(); ++process) calls_.push_back(index_calls(trace, process, stop));
}

LaunchIndex::OneOfSeveral LaunchIndex::one_of_several(const Trace& trace, std::uint32_t correlation, EventRef call) {
  return {correlation, trace.track_of(call.lane).key.thread, trace.lane(call.lane).start(call.index), call};
}

LaunchIndex::Calls LaunchIndex::index_calls(const Trace& trace, ProcessId process, std::stop_token stop) {
  const std::vector<LaneId> lanes = call_lanes_inner_first(trace, process);
  std::uint64_t count = 0;
  std::uint32_t smallest = kNone, largest = 0;
  for (const LaneId id : lanes) {
    count += trace.lane(id).size();
    for (std::size_t s = 0; s < trace.lane(id).segment_count(); ++s) {
      const CorrelationBounds ids = trace.lane(id).segment_correlations(s);
      largest = std::max(largest, ids.greatest);
      smallest = std::min(smallest, std::max(1u, ids.least));
    }
  }
  Calls index;
  if (largest == 0) return index;
  index.smallest = smallest;
  const std::uint64_t span = std::uint64_t{largest} - smallest + 1;
  const bool dense = span <= 4 * count + 1024;
  if (dense) index.dense.resize(span);
  std::vector<bool> is_repeated(dense ? span : 0);
  for (const LaneId id : lanes) {
    if (stop.stop_requested()) return {};
    for_each_call(trace, id, [&](std::uint32_t correlation, EventRef call) {
      if (!dense) {
        index.sparse.emplace_back(correlation, call);
        return;
      }
      const std::uint32_t slot = correlation - smallest;
      const EventRef before = std::exchange(index.dense[slot], call);
      if (!before.valid() || (!is_repeated[slot] && is_within(trace, before, call))) return;
      if (!is_repeated[slot]) index.repeated.push_back(one_of_several(trace, correlation, before));
      index.repeated.push_back(one_of_several(trace, correlation, call));
      is_repeated[slot] = true;
    });
  }
  std::stable_sort(index.sparse.begin(), index.sparse.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < index.sparse.size(); ++i) {
    const auto [correlation, call] = index.sparse[i];
    if (index.sparse[i - 1].first != correlation || is_within(trace, index.sparse[i - 1].second, call)) continue;
    // All of this id, of which this may be the last but one or more.
    const auto same = std::equal_range(index.sparse.begin(), index.sparse.end(), index.sparse[i],
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto each = same.first; each != same.second; ++each)
      index.repeated.push_back(one_of_several(trace, correlation, each->second));
    i = static_cast<std::size_t>(same.second - index.sparse.begin());
  }
  keep_outermost(trace, index.repeated);
  return index;
}

void LaunchIndex::keep_outermost(const Trace& trace, std::vector<OneOfSeveral>& calls) {
  // Calls of one thread mostly are in order already.
  const auto sort = [&calls](auto is_before) {
    if (!std::is_sorted(calls.begin(), calls.end(), is_before)) std::sort(calls.begin(), calls.end(), is_before);
  };
  // Outer calls come first, on each thread.
  sort([](const OneOfSeveral& a, const OneOfSeveral& b) {
    return std::tuple(a.correlation, a.thread, a.start, a.call) < std::tuple(b.correlation, b.thread, b.start, b.call);
  });
  std::size_t kept = 0;
  for (const OneOfSeveral& one : calls) {
    const bool is_inner = kept > 0 && calls[kept - 1].correlation == one.correlation && is_within(trace, one.call, calls[kept - 1].call);
    if (!is_inner) calls[kept++] = one;
  }
  calls.resize(kept);
  sort([](const OneOfSeveral& a, const OneOfSeveral& b) { return std::pair(a.correlation, a.start) < std::pair(b.correlation, b.start); });
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

EventRef LaunchIndex::find(ProcessId process, std::uint32_t correlation, Nanoseconds work_start) const noexcept {
  if (process >= calls_.size() || correlation == 0) return {};
  const Calls& calls = calls_[process];
  if (!calls.repeated.empty()) {
    const auto before = [](const OneOfSeveral& one, const std::pair<std::uint32_t, Nanoseconds>& wanted) {
      return std::pair(one.correlation, one.start) < wanted;
    };
    const OneOfSeveral* const begin = near_lower_bound(calls.repeated, std::pair(correlation, work_start), before);
    const OneOfSeveral* const all = calls.repeated.data();
    // The one behind the work's start, or at it, and the one before it.
    const OneOfSeveral* nearest = begin != all + calls.repeated.size() && begin->correlation == correlation ? begin : nullptr;
    const OneOfSeveral* earlier = begin != all && begin[-1].correlation == correlation ? begin - 1 : nullptr;
    if (earlier && (!nearest || launch_distance(earlier->start, work_start) < launch_distance(nearest->start, work_start))) nearest = earlier;
    if (nearest) return nearest->call;
  }
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
