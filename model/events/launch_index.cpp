#include "model/events/launch_index.h"

#include <algorithm>
#include <atomic>
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

// Calls visit(correlation, call) for each call with one of these ids; 0 is not an id.
template <typename Visit>
void for_each_call(const Trace& trace, LaneId id, std::uint32_t first, std::uint32_t last, Visit visit) {
  const Lane& lane = trace.lane(id);
  for (std::size_t s = 0; s < lane.segment_count(); ++s) {
    const CorrelationBounds ids = lane.segment_correlations(s);
    if (ids.greatest < first || ids.least > last) continue;
    const auto segment = lane.segment(s);
    const auto base = static_cast<EventIndex>(s * LaneSegment::kCapacity);
    for (EventIndex i = 0; i < segment->size(); ++i)
      if (const std::uint32_t correlation = segment->correlation(i); correlation >= first && correlation <= last) visit(correlation, EventRef{id, base + i});
  }
}

// Replaces the call for an id that several calls have.
constexpr EventRef kSeveral{kNone, kNone};

constexpr std::size_t kMostReserved = std::size_t{1} << 25;  // elements: the system refuses to reserve more than it has

// Upper bound of the number of calls with one of these ids.
std::size_t calls_of(const Trace& trace, LaneId id, std::uint32_t first, std::uint32_t last) {
  const Lane& lane = trace.lane(id);
  std::size_t count = 0;
  for (std::size_t s = 0; s < lane.segment_count(); ++s) {
    const CorrelationBounds ids = lane.segment_correlations(s);
    if (ids.greatest >= first && ids.least <= last) count += std::min<std::size_t>(LaneSegment::kCapacity, lane.size() - s * LaneSegment::kCapacity);
  }
  return count;
}

// True if one call lies within another of its thread.
bool is_within(const Trace& trace, EventRef inner, EventRef outer) {
  const Event a = trace.event(inner), b = trace.event(outer);
  return trace.track_of(inner.lane).key.thread == trace.track_of(outer.lane).key.thread && b.start <= a.start && a.end() <= b.end();
}

// The first of the sorted elements that is not before the wanted one. Searches around the one that the thread found last, because work comes in order: O(log
// distance).
template <typename Element, typename Wanted, typename IsBefore>
const Element* near_lower_bound(const std::vector<Element>& sorted, const Wanted& wanted, IsBefore is_before) noexcept {
  thread_local std::size_t last = 0;  // only the starting point of the search; any value is valid
  const Element* const all = sorted.data();
  const std::size_t size = sorted.size(), from = std::min(last, size);
  std::size_t begin = from, end = from, step = 1;  // the result is in [begin, end]
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

LaunchIndex::OneOfSeveral LaunchIndex::one_of_several(const Trace& trace, std::uint32_t correlation, EventRef call) {
  return {correlation, trace.track_of(call.lane).key.thread, trace.lane(call.lane).start(call.index), call};
}

// Requires: ids.first > 0.
LaunchIndex::Calls LaunchIndex::index_calls(const Trace& trace, const std::vector<LaneId>& lanes, Ids ids, Form form, const std::stop_token& stop) {
  Calls index;
  index.smallest = ids.first;
  const bool dense = form == Form::kDense;
  if (dense) index.dense.resize(ids.size());
  std::vector<bool> is_repeated(index.dense.size());
  // Reserves room for all possible calls. It becomes memory only when it is used; a growing table would exist twice at each step.
  std::size_t most_calls = 0;
  for (const LaneId id : lanes) most_calls += calls_of(trace, id, ids.first, ids.last);
  most_calls = std::min(most_calls, kMostReserved);
  if (!dense) index.sparse.reserve(most_calls);
  for (const LaneId id : lanes) {
    if (stop.stop_requested()) return {};
    for_each_call(trace, id, ids.first, ids.last, [&](std::uint32_t correlation, EventRef call) {
      if (!dense) {
        index.sparse.emplace_back(correlation, call);
        return;
      }
      const std::uint32_t slot = correlation - ids.first;
      const EventRef before = std::exchange(index.dense[slot], call);
      if (!before.valid() || (!is_repeated[slot] && is_within(trace, before, call))) return;
      if (index.repeated.empty()) index.repeated.reserve(most_calls);
      if (!is_repeated[slot]) index.repeated.push_back(one_of_several(trace, correlation, before));
      index.repeated.push_back(one_of_several(trace, correlation, call));
      is_repeated[slot] = true;
    });
  }
  std::stable_sort(index.sparse.begin(), index.sparse.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < index.sparse.size(); ++i) {
    const auto [correlation, call] = index.sparse[i];
    if (index.sparse[i - 1].first != correlation || is_within(trace, index.sparse[i - 1].second, call)) continue;
    // All calls with this id; this one need not be the last.
    const auto same =
        std::equal_range(index.sparse.begin(), index.sparse.end(), index.sparse[i], [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto each = same.first; each != same.second; ++each) index.repeated.push_back(one_of_several(trace, correlation, each->second));
    i = static_cast<std::size_t>(same.second - index.sparse.begin());
  }
  keep_outermost(trace, index.repeated);
  if (dense)
    for (const OneOfSeveral& one : index.repeated) index.dense[one.correlation - ids.first] = kSeveral;
  return index;
}

void LaunchIndex::keep_outermost(const Trace& trace, std::vector<OneOfSeveral>& calls) {
  // Calls of one thread are mostly in order already.
  const auto sort = [&calls](auto is_before) {
    if (!std::is_sorted(calls.begin(), calls.end(), is_before)) std::sort(calls.begin(), calls.end(), is_before);
  };
  // Outer calls first, on each thread.
  sort([](const OneOfSeveral& a, const OneOfSeveral& b) {
    return std::tuple(a.correlation, a.thread, a.start, a.call) < std::tuple(b.correlation, b.thread, b.start, b.call);
  });
  std::size_t kept = 0;
  for (const OneOfSeveral& one : calls) {
    const bool is_inner = kept > 0 && calls[kept - 1].correlation == one.correlation && is_within(trace, one.call, calls[kept - 1].call);
    if (!is_inner) calls[kept++] = one;
  }
  calls.resize(kept);
  if (calls.size() < calls.capacity() / 2) calls.shrink_to_fit();
  sort([](const OneOfSeveral& a, const OneOfSeveral& b) { return std::pair(a.correlation, a.start) < std::pair(b.correlation, b.start); });
}

std::uint64_t LaunchIndex::Calls::memory_bytes() const noexcept {
  return dense.capacity() * sizeof(dense.front()) + sparse.capacity() * sizeof(sparse.front()) + repeated.capacity() * sizeof(repeated.front());
}

EventRef LaunchIndex::Calls::find(std::uint32_t correlation, Nanoseconds work_start) const noexcept {
  if (!dense.empty()) {
    const std::uint32_t offset = correlation - smallest;  // wraps around to a large number for ids below the smallest
    if (offset >= dense.size()) return {};
    if (dense[offset] != kSeveral) return dense[offset];
  }
  if (!repeated.empty()) {
    const auto before = [](const OneOfSeveral& one, const std::pair<std::uint32_t, Nanoseconds>& wanted) {
      return std::pair(one.correlation, one.start) < wanted;
    };
    const OneOfSeveral* const begin = near_lower_bound(repeated, std::pair(correlation, work_start), before);
    const OneOfSeveral* const all = repeated.data();
    // The call at or after the work's start, and the one before it.
    const OneOfSeveral* nearest = begin != all + repeated.size() && begin->correlation == correlation ? begin : nullptr;
    const OneOfSeveral* earlier = begin != all && begin[-1].correlation == correlation ? begin - 1 : nullptr;
    if (earlier && (!nearest || launch_distance(earlier->start, work_start) < launch_distance(nearest->start, work_start))) nearest = earlier;
    if (nearest) return nearest->call;
  }
  const auto after = std::upper_bound(sparse.begin(), sparse.end(), correlation, [](std::uint32_t id, const auto& call) { return id < call.first; });
  if (after == sparse.begin() || std::prev(after)->first != correlation) return {};
  return std::prev(after)->second;  // the last of equal ids: the outermost
}

// Slices of all processes; those that were used last are kept. Any thread.
class LaunchIndex::KeptSlices {
 public:
  explicit KeptSlices(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  struct Key {
    std::uint64_t owner;
    std::uint32_t slice;
    bool operator==(const Key&) const = default;
  };
  // Null if it is not there.
  [[nodiscard]] std::shared_ptr<const Calls> find(Key key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
    if (found == kept_.end()) return nullptr;
    std::rotate(kept_.begin(), found, std::next(found));  // used last, so removed last
    return kept_.front().calls;
  }
  void keep(Key key, std::shared_ptr<const Calls> calls) {
    const std::lock_guard lock(mutex_);
    bytes_ += calls->memory_bytes();
    kept_.insert(kept_.begin(), {key, std::move(calls)});
    for (; kept_.size() > 1 && bytes_ > most_bytes_; kept_.pop_back()) bytes_ -= kept_.back().calls->memory_bytes();
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Kept {
    Key key;
    std::shared_ptr<const Calls> calls;
  };
  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;  // the last used one first
  std::uint64_t bytes_ = 0;
};

// The calls of one process, one slice of ids at a time. Any thread.
class LaunchIndex::Slices {
 public:
  Slices(const Trace& trace, std::vector<LaneId> lanes, Ids ids, std::uint32_t slice_ids, std::shared_ptr<KeptSlices> kept)
      : trace_(trace), lanes_(std::move(lanes)), ids_(ids), slice_ids_(slice_ids), kept_(std::move(kept)) {}

  [[nodiscard]] EventRef find(std::uint32_t correlation, Nanoseconds work_start) const {
    if (correlation < ids_.first || correlation > ids_.last) return {};
    // The slice that this thread used last: most threads ask for work in order.
    struct Last {
      std::uint64_t owner = 0;  // a number that is never reused
      std::uint32_t slice = 0;
      std::shared_ptr<const Calls> calls;
    };
    thread_local Last last;
    const std::uint32_t slice = (correlation - ids_.first) / slice_ids_;
    if (last.owner != identity_ || last.slice != slice) last = {identity_, slice, take(slice)};
    return last.calls->find(correlation, work_start);
  }

 private:
  [[nodiscard]] std::shared_ptr<const Calls> take(std::uint32_t slice) const {
    if (auto calls = kept_->find({identity_, slice})) return calls;
    // Two threads may make the same slice, which is better than waiting for another slice that a thread makes.
    const std::uint32_t first = ids_.first + slice * slice_ids_;
    const Ids ids{first, first + std::min(slice_ids_ - 1, ids_.last - first)};
    auto calls = std::make_shared<const Calls>(index_calls(trace_, lanes_, ids, Form::kDense, {}));
    kept_->keep({identity_, slice}, calls);
    return calls;
  }
  static std::uint64_t next_identity() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  const Trace& trace_;
  const std::vector<LaneId> lanes_;
  const Ids ids_;
  const std::uint32_t slice_ids_;
  const std::shared_ptr<KeptSlices> kept_;  // shared with those of other processes
  const std::uint64_t identity_ = next_identity();
};

struct LaunchIndex::Process {
  Calls whole;
  std::unique_ptr<Slices> slices;  // used instead of `whole`
};

LaunchIndex::LaunchIndex(const Trace& trace, const Limits& limits, std::stop_token stop) : kept_slices_(std::make_shared<KeptSlices>(limits.slice_bytes)) {
  Limits left = limits;
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    processes_.push_back(index_process(trace, process, left, kept_slices_, stop));
    left.whole_bytes -= std::min(left.whole_bytes, processes_.back().whole.memory_bytes());
  }
}
LaunchIndex::~LaunchIndex() = default;
LaunchIndex::LaunchIndex(LaunchIndex&&) noexcept = default;
LaunchIndex& LaunchIndex::operator=(LaunchIndex&&) noexcept = default;

LaunchIndex::Process LaunchIndex::index_process(const Trace& trace, ProcessId process, const Limits& limits, const std::shared_ptr<KeptSlices>& kept_slices,
                                                const std::stop_token& stop) {
  constexpr std::uint32_t kMostSliceIds = 1u << 21;
  constexpr std::uint64_t kTimesThrough = 3;  // how often, at most, all calls may be read to make all slices
  std::vector<LaneId> lanes = call_lanes_inner_first(trace, process);
  struct Bounds {
    Ids ids;
    std::uint64_t calls;
  };
  std::vector<Bounds> segments;  // segments that have ids
  std::uint64_t count = 0;
  Ids all{kNone, 0};
  for (const LaneId id : lanes) {
    const Lane& lane = trace.lane(id);
    count += lane.size();
    for (std::size_t s = 0; s < lane.segment_count(); ++s) {
      const CorrelationBounds ids = lane.segment_correlations(s);
      if (ids.greatest == 0) continue;
      const Ids known{std::max(1u, ids.least), ids.greatest};
      all = {std::min(all.first, known.first), std::max(all.last, known.last)};
      segments.push_back({known, std::min<std::uint64_t>(LaneSegment::kCapacity, lane.size() - s * LaneSegment::kCapacity)});
    }
  }
  if (segments.empty()) return {};
  const Form form = all.size() <= 4 * count + 1024 ? Form::kDense : Form::kSparse;
  const bool may_slice = form == Form::kDense && all.size() * sizeof(EventRef) > limits.whole_bytes;
  for (std::uint32_t ids = limits.slice_ids; may_slice && ids <= std::max(limits.slice_ids, kMostSliceIds); ids *= 2) {
    std::uint64_t seen = 0;  // calls that are read for all slices
    for (const Bounds& segment : segments) seen += segment.calls * ((segment.ids.last - all.first) / ids - (segment.ids.first - all.first) / ids + 1);
    if (seen <= kTimesThrough * count) return {{}, std::make_unique<Slices>(trace, std::move(lanes), all, ids, kept_slices)};
  }
  return {index_calls(trace, lanes, all, form, stop), nullptr};
}

EventRef LaunchIndex::find(ProcessId process, std::uint32_t correlation, Nanoseconds work_start) const {
  if (process >= processes_.size() || correlation == 0) return {};
  const Process& calls = processes_[process];
  return calls.slices ? calls.slices->find(correlation, work_start) : calls.whole.find(correlation, work_start);
}

std::uint64_t LaunchIndex::memory_bytes() const {
  std::uint64_t bytes = kept_slices_->memory_bytes();
  for (const Process& process : processes_) bytes += process.whole.memory_bytes();
  return bytes;
}

struct SharedLaunchIndex::State {
  std::once_flag once;
  std::optional<LaunchIndex> index;
  std::atomic<bool> is_made = false;
  std::atomic<std::uint32_t> questions = 0;  // that were answered without it
};
SharedLaunchIndex::SharedLaunchIndex() : state_(std::make_unique<State>()) {}
SharedLaunchIndex::~SharedLaunchIndex() = default;

const LaunchIndex& SharedLaunchIndex::of(const Trace& trace) {
  std::call_once(state_->once, [&] {
    state_->index.emplace(trace);
    state_->is_made = true;
  });
  return *state_->index;
}

bool SharedLaunchIndex::is_made() const noexcept { return state_->is_made; }

EventRef SharedLaunchIndex::find(const Trace& trace, EventRef work) {
  if (!state_->is_made && state_->questions++ < kFewQuestions) return trace.launch_of(work).value_or(EventRef{});
  const Lane& lane = trace.lane(work.lane);
  return of(trace).find(trace.track_of(work.lane).key.process, lane.correlation(work.index), lane.start(work.index));
}

}  // namespace lanescope
