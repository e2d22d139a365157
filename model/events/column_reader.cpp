#include "model/events/column_reader.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "model/events/event_query.h"
#include "model/events/launch_index.h"
#include "model/trace/segments/demanded_segments.h"
#include "range_finder.h"
#include "row_gaps.h"

namespace lanescope {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool reads_before(std::string_view a, std::string_view b) noexcept {
  const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
  if (at_a != a.end() && at_b != b.end()) return static_cast<unsigned char>(lower(*at_a)) < static_cast<unsigned char>(lower(*at_b));
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

namespace {

// The rank of each text among all; equal texts share one; kMissing for empty ones.
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

// The kinds of memory of a memory operation, as a number below kMemoryTexts.
constexpr std::size_t kMemoryKinds = static_cast<std::size_t>(MemoryKind::kManagedStatic) + 1;
constexpr std::size_t kMemoryTexts = 2 * kMemoryKinds * kMemoryKinds;
std::size_t kinds_of_memory(const MemoryDetail& detail) noexcept {
  const auto kind = [](MemoryKind memory) { return std::min(static_cast<std::size_t>(memory), kMemoryKinds - 1); };
  return (static_cast<std::size_t>(detail.operation == MemoryOperation::kSet) * kMemoryKinds + kind(detail.source_memory)) * kMemoryKinds +
         kind(detail.destination_memory);
}

using LaneNumbers = std::vector<std::vector<std::int64_t>>;  // by lane, by event; empty for lanes that were not requested

}  // namespace

struct ColumnReader::State {
  const EventValues* values;
  const Trace* trace;
  EventColumn column;
  std::vector<std::int64_t> rank_of_name;
  std::vector<std::int64_t> number_of_lane;  // for columns whose value all events of a lane share
  std::vector<std::int64_t> rank_of_kind;
  std::vector<std::int64_t> rank_of_memory;  // by kinds_of_memory()
  LaneNumbers number_of_event;
  bool names_are_of_chains = false;  // in some lanes
  bool asks_for_each = false;        // if a number for each event of the trace would take too much memory
  bool reads_by_lane = false;        // for events by start: each of them may lie in another segment, which would be decoded for it
  std::optional<LaunchIndex> launches;
  std::optional<RangeFinder> finder;  // if ranges are searched for each event

  void rank_lanes();
  void rank_kinds();
  void rank_memory();
  void read_gaps(std::stop_token stop);
  void read_ranges(std::stop_token stop);
  [[nodiscard]] std::int64_t queue_time(EventRef event) const;
  [[nodiscard]] std::int64_t range(EventRef event) const;
  void ranges(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;
  template <typename Value>
  void each(std::span<const EventRef> events, std::span<std::int64_t> numbers, Value value) const {
    for (std::size_t i = 0; i < events.size(); ++i) numbers[i] = value(events[i]);
  }
  // The same for value(segment, index in it); the segment is looked up once for all consecutive events in it.
  template <typename Value>
  void each_in_segments(std::span<const EventRef> events, std::span<std::int64_t> numbers, Value value) const {
    for (std::size_t i = 0; i < events.size();) {
      const LaneId lane = events[i].lane;
      const EventIndex begin = events[i].index / LaneSegment::kCapacity * LaneSegment::kCapacity;
      const std::shared_ptr<const LaneSegment> held = trace->lane(lane).segment(begin / LaneSegment::kCapacity);
      const LaneSegment& segment = *held;
      // Unsigned: an index before the segment becomes very large.
      for (; i < events.size() && events[i].lane == lane && events[i].index - begin < segment.size(); ++i) numbers[i] = value(segment, events[i].index - begin);
    }
  }
  void correlations(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;
  void read(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;
  void read_by_lane(std::span<const EventRef> events, std::span<std::int64_t> numbers) const;
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
  if (asks_for_each) {
    finder.emplace(*values);
    return;
  }
  launches.emplace(*trace, stop);
  number_of_event.resize(trace->lanes().size());
  std::vector<LaneId> wanted = values->scope().lanes();
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kCudaApi) wanted.insert(wanted.end(), track.lanes.begin(), track.lanes.end());  // GPU work is looked up by its launch
  std::map<ThreadId, std::vector<LaneId>> lanes_of_thread;
  for (const LaneId lane : wanted) {
    const TrackKey& key = trace->track_of(lane).key;
    if (key.thread == kNone || is_on_stream(key.kind) || !number_of_event[lane].empty()) continue;
    number_of_event[lane].assign(trace->lane(lane).size(), kMissing);
    lanes_of_thread[key.thread].push_back(lane);
  }
  constexpr std::size_t kPiece = 1u << 16;  // events
  std::vector<EventRef> ranges(kPiece);
  const RangeFinder ranges_around(*values);
  for (const auto& [thread, lanes] : lanes_of_thread) {
    const std::vector<EventRef> events = gather_by_start(*trace, lanes, {}, stop);
    for (std::span<const EventRef> rest(events); !rest.empty() && !stop.stop_requested(); rest = rest.subspan(std::min(kPiece, rest.size()))) {
      const std::span<const EventRef> piece = rest.first(std::min(kPiece, rest.size()));
      ranges_around.find(piece, std::span(ranges).first(piece.size()));
      for (std::size_t i = 0; i < piece.size(); ++i)
        if (ranges[i].valid()) number_of_event[piece[i].lane][piece[i].index] = rank_of_name[trace->lane(ranges[i].lane).name(ranges[i].index)];
    }
  }
}

std::int64_t ColumnReader::State::queue_time(EventRef event) const {
  const TrackKey& key = trace->track_of(event.lane).key;
  if (!is_gpu_work(key.kind)) return kMissing;
  const Lane& lane = trace->lane(event.lane);
  const EventRef launch = launches->find(key.process, lane.correlation(event.index), lane.start(event.index));
  if (!launch.valid()) return kMissing;
  return std::max<Nanoseconds>(0, lane.start(event.index) - trace->lane(launch.lane).end(launch.index));
}

void ColumnReader::State::ranges(std::span<const EventRef> events, std::span<std::int64_t> numbers) const {
  std::vector<EventRef> around(events.size());
  finder->find(events, around);
  for (std::size_t i = 0; i < events.size(); ++i) numbers[i] = around[i].valid() ? rank_of_name[trace->lane(around[i].lane).name(around[i].index)] : kMissing;
}

std::int64_t ColumnReader::State::range(EventRef event) const {
  const TrackKey& key = trace->track_of(event.lane).key;
  const Lane& lane = trace->lane(event.lane);
  if (is_on_stream(key.kind)) event = launches->find(key.process, lane.correlation(event.index), lane.start(event.index));
  if (!event.valid() || event.index >= number_of_event[event.lane].size()) return kMissing;
  return number_of_event[event.lane][event.index];
}

// Works on the events of one lane at a time, because all have the same kind of correlation id.
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
  state_->asks_for_each = !has_memory_for_events(values.trace());
  // The other columns depend only on lanes, or advance in time from one call to the next.
  static constexpr EventColumn kOfSegments[] = {EventColumn::kName,        EventColumn::kStart, EventColumn::kDuration,
                                                EventColumn::kCorrelation, EventColumn::kKind,  EventColumn::kMemory};
  state_->reads_by_lane = state_->asks_for_each && std::find(std::begin(kOfSegments), std::end(kOfSegments), column) != std::end(kOfSegments);
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
    case EventColumn::kRun:
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
  constexpr std::size_t kFew = 1'000;
  if (state_->reads_by_lane && events.size() > kFew)
    state_->read_by_lane(events, numbers);
  else
    state_->read(events, numbers);
}

// Reads lane by lane, the events of one lane in their order.
void ColumnReader::State::read_by_lane(std::span<const EventRef> events, std::span<std::int64_t> numbers) const {
  constexpr std::size_t kAtOnce = 1u << 12;
  std::vector<std::uint32_t> places(trace->lanes().size() + 1);  // where the events of each lane begin in the order
  for (const EventRef event : events) ++places[event.lane + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<std::uint32_t> order(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) order[places[events[i].lane]++] = static_cast<std::uint32_t>(i);
  std::vector<EventRef> some;
  std::vector<std::int64_t> some_numbers(kAtOnce);
  for (std::size_t first = 0; first < order.size(); first += some.size()) {
    some.clear();
    for (std::size_t i = first; i < std::min(order.size(), first + kAtOnce); ++i) some.push_back(events[order[i]]);
    read(some, std::span(some_numbers).first(some.size()));
    for (std::size_t i = 0; i < some.size(); ++i) numbers[order[first + i]] = some_numbers[i];
  }
}

void ColumnReader::State::read(std::span<const EventRef> events, std::span<std::int64_t> numbers) const {
  switch (column) {
    case EventColumn::kName:
      if (names_are_of_chains) return each(events, numbers, [&](EventRef e) { return rank_of_name[listed_name(*trace, e)]; });
      return each_in_segments(events, numbers, [&](const LaneSegment& s, EventIndex i) { return rank_of_name[s.name(i)]; });
    case EventColumn::kStart:
      return each_in_segments(events, numbers, [](const LaneSegment& s, EventIndex i) { return s.start(i); });
    case EventColumn::kDuration:
      if (values->has_open()) return each(events, numbers, [&](EventRef e) { return values->duration(e); });
      return each_in_segments(events, numbers, [](const LaneSegment& s, EventIndex i) { return s.duration(i); });
    case EventColumn::kCorrelation:
      return correlations(events, numbers);
    case EventColumn::kGapBefore:
      if (asks_for_each) return gaps_before(*values, events, numbers);
      return each(events, numbers, [&](EventRef e) { return number_of_event[e.lane][e.index]; });
    case EventColumn::kQueueTime:
      return each(events, numbers, [&](EventRef e) { return queue_time(e); });
    case EventColumn::kNvtxRange:
      if (finder) return ranges(events, numbers);
      return each(events, numbers, [&](EventRef e) { return range(e); });
    case EventColumn::kKind:
      return each(events, numbers, [&](EventRef e) { return rank_of_kind[static_cast<std::size_t>(event_kind(*trace, e))]; });
    case EventColumn::kMemory:
      return each(events, numbers, [&](EventRef e) {
        if (trace->track_of(e.lane).key.kind != TrackKind::kMemory) return kMissing;
        return rank_of_memory[kinds_of_memory(trace->memory_detail(trace->lane(e.lane).detail(e.index)))];
      });
    case EventColumn::kProcess:
    case EventColumn::kThread:
    case EventColumn::kDevice:
    case EventColumn::kStream:
    case EventColumn::kRun:
      return each(events, numbers, [&](EventRef e) { return number_of_lane[e.lane]; });
    default:
      return each(events, numbers, [&](EventRef e) { return values->number(e, column).value_or(kMissing); });
  }
}

}  // namespace lanescope
