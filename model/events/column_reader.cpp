#include "model/events/column_reader.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "model/events/launch_index.h"
#include "model/trace/demanded_segments.h"

namespace lanescope {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Letter case ignored, then by bytes, so that the order is total.
bool reads_before(std::string_view a, std::string_view b) noexcept {
  const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
  if (at_a != a.end() && at_b != b.end()) return static_cast<unsigned char>(lower(*at_a)) < static_cast<unsigned char>(lower(*at_b));
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

// The position of each text among all, equal texts sharing one; kMissing for empty ones.
std::vector<std::int64_t> ranks(const std::vector<std::string_view>& texts) {
  std::vector<std::uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return reads_before(texts[a], texts[b]); });
  std::vector<std::int64_t> rank(texts.size());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && texts[order[i]] != texts[order[i - 1]]) ++next;
    rank[order[i]] = texts[order[i]].empty() ? ColumnReader::kMissing : next;
  }
  return rank;
}

std::vector<std::int64_t> name_ranks(const Trace& trace) {
  std::vector<std::string_view> names(trace.name_count());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = api_display_name(trace.name(static_cast<NameId>(i)));
  return ranks(names);
}

// What a memory operation says of kinds of memory, as a number below kMemoryTexts.
constexpr std::size_t kMemoryKinds = static_cast<std::size_t>(MemoryKind::kManagedStatic) + 1;
constexpr std::size_t kMemoryTexts = 2 * kMemoryKinds * kMemoryKinds;
std::size_t kinds_of_memory(const MemoryDetail& detail) noexcept {
  const auto kind = [](MemoryKind memory) { return std::min(static_cast<std::size_t>(memory), kMemoryKinds - 1); };
  return (static_cast<std::size_t>(detail.operation == MemoryOperation::kSet) * kMemoryKinds + kind(detail.source_memory)) * kMemoryKinds + kind(detail.destination_memory);
}

using LaneNumbers = std::vector<std::vector<std::int64_t>>;  // by lane, by event; empty for lanes that nobody asked for

// Calls take(lane, index, gap) for the events of one row that start within [from, until], by start, outer lanes first; kMissing for the first of
// the row. Holds a segment of each of its lanes.
template <typename Take>
void sweep_gaps(const Trace& trace, std::span<const LaneId> row, Nanoseconds from, Nanoseconds until, Take take) {
  struct Cursor {
    const Lane* lane;
    LaneId id;
    std::size_t position;
    EventIndex next = 0;
    std::shared_ptr<const LaneSegment> segment;
    Nanoseconds start = 0, end = 0;

    // False where there is no event any more.
    bool read() {
      if (next == lane->size()) return false;
      if (!segment || next % LaneSegment::kCapacity == 0) segment = lane->segment(next / LaneSegment::kCapacity);
      start = segment->start(next % LaneSegment::kCapacity);
      end = start + segment->duration(next % LaneSegment::kCapacity);
      return true;
    }
  };
  std::vector<Cursor> heap;
  std::optional<Nanoseconds> last_end;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Lane& lane = trace.lane(row[i]);
    Cursor cursor{&lane, row[i], i, lane.lower_bound(from), nullptr};
    if (cursor.next > 0) last_end = std::max(last_end.value_or(INT64_MIN), lane.end(cursor.next - 1));
    if (cursor.read()) heap.push_back(std::move(cursor));
  }
  const auto later = [](const Cursor& a, const Cursor& b) { return a.start != b.start ? a.start > b.start : a.position > b.position; };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty() && heap.front().start <= until) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Cursor& earliest = heap.back();
    // Events that lie before everything else on the row need no look at the other lanes.
    const Nanoseconds others = heap.size() > 1 ? heap.front().start : INT64_MAX;
    bool is_more = true;
    do {
      take(earliest.id, earliest.next, last_end ? std::max<Nanoseconds>(0, earliest.start - *last_end) : ColumnReader::kMissing);
      last_end = std::max(last_end.value_or(INT64_MIN), earliest.end);
      ++earliest.next;
    } while ((is_more = earliest.read()) && earliest.start < others && earliest.start <= until);
    if (is_more)
      std::push_heap(heap.begin(), heap.end(), later);
    else
      heap.pop_back();
  }
}

// For all events of one CPU lane: the rank of the innermost NVTX range around each. The cursors only move forward.
std::vector<std::int64_t> sweep_ranges(const Trace& trace, LaneId id, const std::vector<std::int64_t>& rank_of_name) {
  const Track& track = trace.track_of(id);
  const Lane& lane = trace.lane(id);
  std::vector<const Lane*> ranges;  // of the thread, each domain outermost first; without its own depth and deeper ones
  for (const Track& other : trace.tracks()) {
    if (other.key.kind != TrackKind::kNvtxRanges || other.key.thread != track.key.thread) continue;
    for (const LaneId around : other.lanes) {
      if (around == id) break;
      ranges.push_back(&trace.lane(around));
    }
  }
  const bool whole = track.key.kind == TrackKind::kNvtxRanges;  // a range must be enclosed whole; of a call, its start
  std::vector<EventIndex> after(ranges.size(), 0);              // first event that starts behind the current one's start
  std::vector<std::int64_t> result(lane.size(), ColumnReader::kMissing);
  for (EventIndex i = 0; i < lane.size(); ++i) {
    const Nanoseconds start = lane.start(i);
    Nanoseconds innermost = INT64_MIN;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const Lane& around = *ranges[r];
      while (after[r] < around.size() && around.start(after[r]) <= start) ++after[r];
      if (after[r] == 0) continue;
      const EventIndex candidate = after[r] - 1;
      const Nanoseconds end = around.end(candidate);
      if (end <= start || (whole && end < lane.end(i)) || around.start(candidate) < innermost) continue;
      innermost = around.start(candidate);
      result[i] = rank_of_name[around.name(candidate)];
    }
  }
  return result;
}

}  // namespace

struct ColumnReader::State {
  const EventValues* values;
  const Trace* trace;
  EventColumn column;
  std::vector<std::int64_t> rank_of_name;
  std::vector<std::int64_t> number_of_lane;  // columns that all events of a lane share
  std::vector<std::int64_t> rank_of_kind;
  std::vector<std::int64_t> rank_of_memory;  // by kinds_of_memory()
  LaneNumbers number_of_event;
  bool names_are_of_chains = false;  // of some lanes
  bool asks_for_each = false;        // where a number for each event of the trace would be too many
  std::optional<LaunchIndex> launches;

  void rank_lanes();
  void rank_kinds();
  void rank_memory();
  void read_gaps(std::stop_token stop);
  void gaps(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;
  void read_ranges(std::stop_token stop);
  [[nodiscard]] std::int64_t queue_time(EventRef event) const;
  [[nodiscard]] std::int64_t range(EventRef event) const;
  template <typename Value>
  void each(std::span<const EventRef> events, std::span<std::int64_t> numbers, Value value) const {
    for (std::size_t i = 0; i < events.size(); ++i) numbers[i] = value(events[i]);
  }
  // The same for value(segment, index in it), which is found once for all events that follow each other in a segment.
  template <typename Value>
  void each_in_segments(std::span<const EventRef> events, std::span<std::int64_t> numbers, Value value) const {
    for (std::size_t i = 0; i < events.size();) {
      const LaneId lane = events[i].lane;
      const EventIndex begin = events[i].index / LaneSegment::kCapacity * LaneSegment::kCapacity;
      const std::shared_ptr<const LaneSegment> held = trace->lane(lane).segment(begin / LaneSegment::kCapacity);
      const LaneSegment& segment = *held;
      // Unsigned: what lies before the segment is far behind it.
      for (; i < events.size() && events[i].lane == lane && events[i].index - begin < segment.size(); ++i)
        numbers[i] = value(segment, events[i].index - begin);
    }
  }
  void correlations(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;
};

void ColumnReader::State::rank_lanes() {
  std::vector<std::string> texts(trace->lanes().size());
  for (const LaneId lane : values->scope().lanes())
    if (!trace->lane(lane).empty()) texts[lane] = values->text({lane, 0}, column);
  number_of_lane = ranks({texts.begin(), texts.end()});
}

void ColumnReader::State::rank_kinds() {
  std::vector<std::string_view> names;
  for (const EventKind kind : all_event_kinds()) names.push_back(event_kind_name(kind));
  rank_of_kind = ranks(names);
}

void ColumnReader::State::rank_memory() {
  std::vector<std::string> texts(kMemoryTexts);
  for (const MemoryOperation operation : {MemoryOperation::kCopy, MemoryOperation::kSet})
    for (std::size_t from = 0; from < kMemoryKinds; ++from)
      for (std::size_t to = 0; to < kMemoryKinds; ++to) {
        const MemoryDetail detail{.operation = operation, .source_memory = static_cast<MemoryKind>(from), .destination_memory = static_cast<MemoryKind>(to)};
        texts[kinds_of_memory(detail)] = memory_text(detail);
      }
  rank_of_memory = ranks({texts.begin(), texts.end()});
}

void ColumnReader::State::read_gaps(std::stop_token stop) {
  if (asks_for_each) return;
  number_of_event.resize(trace->lanes().size());
  for (const std::vector<LaneId>& row : values->rows()) {
    if (stop.stop_requested()) return;
    for (const LaneId lane : row) number_of_event[lane].assign(trace->lane(lane).size(), kMissing);
    const bool counts = std::any_of(row.begin(), row.end(), [&](LaneId lane) { return has_gaps(trace->track_of(lane).key.kind); });
    if (!counts) continue;
    sweep_gaps(*trace, row, INT64_MIN, INT64_MAX, [&](LaneId lane, EventIndex index, std::int64_t gap) { number_of_event[lane][index] = gap; });
  }
}

void ColumnReader::State::read_ranges(std::stop_token stop) {
  rank_of_name = name_ranks(*trace);
  if (asks_for_each) return;
  launches.emplace(*trace, stop);
  number_of_event.resize(trace->lanes().size());
  std::vector<bool> wanted(trace->lanes().size());
  for (const LaneId lane : values->scope().lanes()) wanted[lane] = true;
  for (LaneId lane = 0; lane < wanted.size(); ++lane) {
    if (stop.stop_requested()) return;
    const TrackKey& key = trace->track_of(lane).key;
    const bool launches_work = key.kind == TrackKind::kCudaApi;
    if ((wanted[lane] || launches_work) && key.thread != kNone && !is_on_stream(key.kind))
      number_of_event[lane] = sweep_ranges(*trace, lane, rank_of_name);
  }
}

// Events that come together mostly lie near each other, so that one sweep over each row finds what is in front of all of them.
void ColumnReader::State::gaps(std::span<const EventRef> events, std::span<std::int64_t> numbers) const {
  constexpr std::uint64_t kMostPerEvent = 8;  // events of a sweep for each that is asked for: beyond, a search for each takes less
  struct OfLane {
    EventIndex first = kNone, last = 0;
    std::vector<std::int64_t> gaps;  // from the first on; none where each is asked for
  };
  std::unordered_map<LaneId, OfLane> lanes;
  std::unordered_map<LaneId, std::uint64_t> rows;  // by their first lanes: how many events are asked for
  for (const EventRef event : events) {
    if (!has_gaps(trace->track_of(event.lane).key.kind)) continue;
    OfLane& lane = lanes[event.lane];
    lane.first = std::min(lane.first, event.index);
    lane.last = std::max(lane.last, event.index);
    ++rows[values->row_of(event.lane).front()];
  }
  for (const auto& [first_lane, wanted] : rows) {
    const std::span<const LaneId> row = values->row_of(first_lane);
    Nanoseconds from = INT64_MAX, until = INT64_MIN;
    for (const LaneId id : row)
      if (const auto lane = lanes.find(id); lane != lanes.end()) {
        from = std::min(from, trace->lane(id).start(lane->second.first));
        until = std::max(until, trace->lane(id).start(lane->second.last));
      }
    std::uint64_t passed = 0;
    for (const LaneId id : row) passed += trace->lane(id).lower_bound(until + 1) - trace->lane(id).lower_bound(from);
    if (passed > kMostPerEvent * wanted) continue;
    for (const LaneId id : row)
      if (const auto lane = lanes.find(id); lane != lanes.end()) lane->second.gaps.resize(lane->second.last - lane->second.first + std::size_t{1});
    sweep_gaps(*trace, row, from, until, [&](LaneId id, EventIndex index, std::int64_t gap) {
      const auto lane = lanes.find(id);
      if (lane != lanes.end() && index >= lane->second.first && index <= lane->second.last) lane->second.gaps[index - lane->second.first] = gap;
    });
  }
  each(events, numbers, [&](EventRef e) -> std::int64_t {
    const auto lane = lanes.find(e.lane);
    if (lane == lanes.end()) return kMissing;
    if (lane->second.gaps.empty()) return values->number(e, EventColumn::kGapBefore).value_or(kMissing);
    return lane->second.gaps[e.index - lane->second.first];
  });
}

std::int64_t ColumnReader::State::queue_time(EventRef event) const {
  const TrackKey& key = trace->track_of(event.lane).key;
  if (!is_gpu_work(key.kind)) return kMissing;
  const Lane& lane = trace->lane(event.lane);
  const EventRef launch = launches->find(key.process, lane.correlation(event.index), lane.start(event.index));
  if (!launch.valid()) return kMissing;
  return std::max<Nanoseconds>(0, lane.start(event.index) - trace->lane(launch.lane).end(launch.index));
}

std::int64_t ColumnReader::State::range(EventRef event) const {
  if (asks_for_each) {
    const std::optional<EventRef> around = values->enclosing_range(event);
    return around ? rank_of_name[trace->lane(around->lane).name(around->index)] : kMissing;
  }
  const TrackKey& key = trace->track_of(event.lane).key;
  const Lane& lane = trace->lane(event.lane);
  if (is_on_stream(key.kind)) event = launches->find(key.process, lane.correlation(event.index), lane.start(event.index));
  if (!event.valid() || event.index >= number_of_event[event.lane].size()) return kMissing;
  return number_of_event[event.lane][event.index];
}

// Events of one lane at a time: whether CUDA counts them is the same for all.
void ColumnReader::State::correlations(std::span<const EventRef> events, std::span<std::int64_t> numbers) const {
  for (std::size_t begin = 0, end = 0; begin < events.size(); begin = end) {
    while (end < events.size() && events[end].lane == events[begin].lane) ++end;
    const TrackKind kind = trace->track_of(events[begin].lane).key.kind;
    const bool from_cuda = is_on_stream(kind) || kind == TrackKind::kCudaApi;
    each_in_segments(events.subspan(begin, end - begin), numbers.subspan(begin, end - begin),
                     [from_cuda](const LaneSegment& segment, EventIndex i) -> std::int64_t {
                       const std::uint32_t correlation = segment.correlation(i);
                       return from_cuda && correlation != 0 ? std::int64_t{correlation} : kMissing;
                     });
  }
}

ColumnReader::ColumnReader(const EventValues& values, EventColumn column, std::stop_token stop)
    : state_(std::make_unique<State>(State{&values, &values.trace(), column, {}, {}, {}, {}, {}, {}})) {
  state_->asks_for_each = !holds_events(values.trace());
  switch (column) {
    case EventColumn::kName:
      state_->rank_of_name = name_ranks(values.trace());
      for (const LaneId lane : values.scope().lanes()) {
        const TrackKind kind = values.trace().track_of(lane).key.kind;
        if (kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces) state_->names_are_of_chains = true;
      }
      break;
    case EventColumn::kKind:
      state_->rank_kinds();
      break;
    case EventColumn::kMemory:
      state_->rank_memory();
      break;
    case EventColumn::kProcess:
    case EventColumn::kThread:
    case EventColumn::kDevice:
    case EventColumn::kStream:
      state_->rank_lanes();
      break;
    case EventColumn::kGapBefore:
      state_->read_gaps(stop);
      break;
    case EventColumn::kQueueTime:
      state_->launches.emplace(values.trace(), stop);
      break;
    case EventColumn::kNvtxRange:
      state_->read_ranges(stop);
      break;
    default:
      break;
  }
}

ColumnReader::~ColumnReader() = default;

void ColumnReader::read(std::span<const EventRef> events, std::span<std::int64_t> numbers) const {
  const State& state = *state_;
  const Trace& trace = *state.trace;
  switch (state.column) {
    case EventColumn::kName:
      if (state.names_are_of_chains)
        return state.each(events, numbers, [&](EventRef e) { return state.rank_of_name[listed_name(trace, e)]; });
      return state.each_in_segments(events, numbers, [&](const LaneSegment& s, EventIndex i) { return state.rank_of_name[s.name(i)]; });
    case EventColumn::kStart:
      return state.each_in_segments(events, numbers, [](const LaneSegment& s, EventIndex i) { return s.start(i); });
    case EventColumn::kDuration:
      return state.each_in_segments(events, numbers, [](const LaneSegment& s, EventIndex i) { return s.duration(i); });
    case EventColumn::kCorrelation:
      return state.correlations(events, numbers);
    case EventColumn::kGapBefore:
      if (state.asks_for_each) return state.gaps(events, numbers);
      return state.each(events, numbers, [&](EventRef e) { return state.number_of_event[e.lane][e.index]; });
    case EventColumn::kQueueTime:
      return state.each(events, numbers, [&](EventRef e) { return state.queue_time(e); });
    case EventColumn::kNvtxRange:
      return state.each(events, numbers, [&](EventRef e) { return state.range(e); });
    case EventColumn::kKind:
      return state.each(events, numbers, [&](EventRef e) { return state.rank_of_kind[static_cast<std::size_t>(event_kind(trace, e))]; });
    case EventColumn::kMemory:
      return state.each(events, numbers, [&](EventRef e) {
        if (trace.track_of(e.lane).key.kind != TrackKind::kMemory) return kMissing;
        return state.rank_of_memory[kinds_of_memory(trace.memory_detail(trace.lane(e.lane).detail(e.index)))];
      });
    case EventColumn::kProcess:
    case EventColumn::kThread:
    case EventColumn::kDevice:
    case EventColumn::kStream:
      return state.each(events, numbers, [&](EventRef e) { return state.number_of_lane[e.lane]; });
    default:
      return state.each(events, numbers, [&](EventRef e) { return state.values->number(e, state.column).value_or(kMissing); });
  }
}

}  // namespace lanescope
