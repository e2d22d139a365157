#include "gpu_operations.h"

#include <algorithm>
#include <array>

#include "model/trace/workers/crew.h"

namespace lanescope::analysis {

namespace {

std::function<bool(const TrackKey&)> of_gpu(GpuId gpu) {
  return [gpu](const TrackKey& key) { return key.gpu == gpu; };
}

constexpr std::size_t kCancelEvery = 1'024;     // operations between looks at whether to stop
constexpr std::size_t kVisitedAtOnce = 16'384;  // operations, of 48 bytes: they, and what is found in them, mostly stay in the cache of a processor
constexpr std::size_t kWorthAThread = 2'048;    // fewer take less than to begin a thread

template <typename Visit>
void for_each_lane(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, Visit visit) {
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind) && wanted(track.key))
      for (const LaneId id : track.lanes) visit(id);
}

}  // namespace

GpuTracks::GpuTracks(const Trace& trace) {
  std::vector<std::pair<Owner, TrackId>> all;
  for (TrackId id = 0; id < trace.tracks().size(); ++id)
    if (const TrackKey& key = trace.tracks()[id].key; is_gpu_work(key.kind)) all.push_back({{key.gpu, key.process}, id});
  std::sort(all.begin(), all.end());
  for (const auto& [owner, track] : all) {
    owners_.push_back(owner);
    tracks_.push_back(track);
  }
}

std::span<const TrackId> GpuTracks::of(GpuId gpu) const noexcept {
  const auto [begin, end] = std::equal_range(owners_.begin(), owners_.end(), Owner{gpu, 0}, [](const Owner& a, const Owner& b) { return a.gpu < b.gpu; });
  return {tracks_.begin() + (begin - owners_.begin()), tracks_.begin() + (end - owners_.begin())};
}

std::span<const TrackId> GpuTracks::of(GpuId gpu, ProcessId process) const noexcept {
  const auto [begin, end] = std::equal_range(owners_.begin(), owners_.end(), Owner{gpu, process});
  return {tracks_.begin() + (begin - owners_.begin()), tracks_.begin() + (end - owners_.begin())};
}

GpuOperations::GpuOperations(const Trace& trace, GpuId gpu, std::stop_token stop) : GpuOperations(trace, of_gpu(gpu), kEver, std::move(stop)) {}

GpuOperations::GpuOperations(const Trace& trace, GpuId gpu, TimeRange time, std::stop_token stop) : GpuOperations(trace, of_gpu(gpu), time, std::move(stop)) {}

GpuOperations::GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, std::stop_token stop)
    : GpuOperations(trace, wanted, kEver, std::move(stop)) {}

GpuOperations::GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, TimeRange time, std::stop_token stop)
    : trace_(&trace), stop_(std::move(stop)) {
  for_each_lane(trace, wanted, [&](LaneId id) { add_lane(id, time); });
  begin();
}

GpuOperations::GpuOperations(const Trace& trace, std::span<const TrackId> tracks, TimeRange time, std::stop_token stop)
    : trace_(&trace), stop_(std::move(stop)) {
  for (const TrackId track : tracks)
    for (const LaneId id : trace.tracks()[track].lanes) add_lane(id, time);
  begin();
}

void GpuOperations::add_lane(LaneId id, TimeRange time) {
  const Lane& lane = trace_->lane(id);
  const EventIndex first = lane.lower_bound(time.begin), end = lane.lower_bound(time.end);
  if (first >= end) return;
  heads_.push_back({0, {id, first}, static_cast<std::uint32_t>(sources_.size())});
  const TrackKey& key = trace_->track_of(id).key;
  sources_.push_back({.lane = &lane, .id = id, .kind = key.kind, .process = key.process, .end = end, .segment = nullptr, .read = read_.size()});
  read_.resize(read_.size() + static_cast<std::size_t>(std::min<EventIndex>(kReadAtOnce, end - first)));
}

// Called once all lanes are known.
void GpuOperations::begin() {
  for (Head& head : heads_) head.start = start(head.source, head.event.index);
  std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
}

std::optional<Nanoseconds> GpuOperations::busy_until(const Trace& trace, std::span<const TrackId> tracks, Nanoseconds t) {
  std::optional<Nanoseconds> latest;
  for (const TrackId track : tracks)
    for (const LaneId id : trace.tracks()[track].lanes) {
      const Lane& lane = trace.lane(id);
      const EventIndex behind = lane.lower_bound(t);
      if (behind > 0) latest = std::max(latest.value_or(lane.end(behind - 1)), lane.end(behind - 1));  // the last event of a lane ends last
    }
  return latest;
}

// The segment of an event. Indexes of a source must not descend from call to call. Null if the segment is not held.
const LaneSegment* GpuOperations::segment(std::uint32_t number, EventIndex index) {
  Source& source = sources_[number];
  if (source.segment && index - source.segment_begin < source.segment->size()) return source.segment.get();
  source.segment.reset();
  const bool is_one_of_many = !source.lane->holds_segments() && sources_.size() > kMostHeld;
  if (is_one_of_many && !source.is_held) {
    if (++source.asked < kAskedBeforeHeld) return nullptr;
    source.asked = 0;
    std::uint32_t& place = held_[held_count_ % kHeldOfMany];
    if (held_count_++ >= kHeldOfMany) {
      sources_[place].segment.reset();
      sources_[place].is_held = false;
    }
    place = number;
    source.is_held = true;
  }
  source.segment = source.lane->segment(index / LaneSegment::kCapacity);
  source.segment_begin = index - index % LaneSegment::kCapacity;
  return source.segment.get();
}

// Reads as many events as are read at once, from this one on.
const GpuOperation& GpuOperations::read(Source& source, const LaneSegment& held, EventIndex index) {
  const auto first = static_cast<std::uint32_t>(index % LaneSegment::kCapacity);
  source.read_begin = index;
  source.read_count = static_cast<std::uint32_t>(std::min<EventIndex>({kReadAtOnce, source.end - index, held.size() - first}));
  for (std::uint32_t i = 0; i < source.read_count; ++i) {
    const std::uint32_t at = first + i;
    read_[source.read + i] = operation_of(source, index + i, {held.start(at), held.duration(at), held.name(at), held.correlation(at), held.detail(at)});
  }
  return read_[source.read];
}

// The start of an event. That of a segment's first event is known without the segment, which is not read before its turn.
Nanoseconds GpuOperations::start(std::uint32_t number, EventIndex index) {
  Source& source = sources_[number];
  if (const GpuOperation* const known = find(source, index)) return known->range.begin;
  if (index % LaneSegment::kCapacity == 0) return source.lane->segment_start(index / LaneSegment::kCapacity);
  const LaneSegment* const held = segment(number, index);
  return held != nullptr ? read(source, *held, index).range.begin : source.lane->start(index);
}

GpuOperation GpuOperations::operation(std::uint32_t number, EventIndex index) {
  Source& source = sources_[number];
  if (const GpuOperation* const known = find(source, index)) return *known;
  const LaneSegment* const held = segment(number, index);
  return held != nullptr ? read(source, *held, index) : operation_of(source, index, source.lane->event(index));
}

std::optional<GpuOperation> GpuOperations::next() {
  GpuOperation one;
  return next({&one, 1}) == 1 ? std::optional(one) : std::nullopt;
}

std::size_t GpuOperations::next(std::span<GpuOperation> into) {
  std::size_t count = 0;
  for (; count < into.size() && !heads_.empty(); ++count) {
    if (count % kCancelEvery == 0 && stop_.stop_requested()) break;
    const Head& first = heads_.front();
    const EventIndex index = first.event.index, following = index + 1;
    into[count] = operation(first.source, index);
    if (Source& source = sources_[first.source]; following == source.end) {
      source.segment.reset();
      std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
      heads_.pop_back();
      continue;
    }
    const EventRef next{first.event.lane, following};
    const Head head{start(first.source, following), next, first.source};
    replace_first(head);
  }
  return count;
}

// Replaces the first by one that is not before it. If the new one is still the first, this takes two comparisons.
void GpuOperations::replace_first(const Head& head) {
  std::size_t hole = 0;
  for (std::size_t child; (child = 2 * hole + 1) < heads_.size(); hole = child) {
    if (child + 1 < heads_.size() && heads_[child] > heads_[child + 1]) ++child;
    if (!(head > heads_[child])) break;
    heads_[hole] = heads_[child];
  }
  heads_[hole] = head;
}

void visit_operations(const Trace& trace, TimeRange time, std::span<OperationVisitor* const> visitors, const std::stop_token& stop) {
  if (visitors.empty()) return;
  const GpuTracks tracks(trace);
  std::array<std::vector<GpuOperation>, 2> buffers;  // allocated once for all GPUs: a file can name many GPUs that did nothing
  std::optional<Crew> crew;                          // once there is enough to share
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    for (OperationVisitor* const visitor : visitors) visitor->begin(gpu);
    GpuOperations operations(trace, tracks.of(gpu), time, stop);
    const auto read = [&](std::vector<GpuOperation>& into) {
      into.resize(kVisitedAtOnce);
      const std::span<GpuOperation> filled = std::span(into).first(operations.next(into));
      if (time.end != GpuOperations::kEver.end)
        for (GpuOperation& operation : filled) operation = operation.until(time.end);
      return filled;
    };
    std::span<GpuOperation> now = read(buffers[0]);
    for (std::size_t other = 1; !now.empty(); other = 1 - other) {
      const bool is_last = now.size() < kVisitedAtOnce;
      if (is_last && now.size() < kWorthAThread) {
        for (OperationVisitor* const visitor : visitors) visitor->visit(now);
        break;
      }
      std::span<GpuOperation> ahead;
      if (!crew) crew.emplace(visitors.size() + 1);
      crew->run(visitors.size() + 1, [&](std::size_t part) {
        if (part > 0)
          visitors[part - 1]->visit(now);
        else if (!is_last)
          ahead = read(buffers[other]);
      });
      now = ahead;
    }
    for (OperationVisitor* const visitor : visitors) visitor->end();
  }
}

}  // namespace lanescope::analysis
