#include "model/events/event_query.h"

#include <algorithm>
#include <utility>

#include "model/events/name_family.h"
#include "model/trace/python_lock.h"
#include "model/events/column_reader.h"
#include "sorted_positions.h"

namespace lanescope {
namespace {

constexpr std::size_t kChunk = 1u << 14;      // events between two looks at the stop token
constexpr std::size_t kSmallestBatch = 1024;  // candidates for a first page that are told apart at once
constexpr std::size_t kSampledPerFirst = 64;  // events of a sample, for each that is wanted first

void reserve(std::vector<EventRef>& events, std::size_t size) {
  events.reserve(size);
  prefer_large_pages(events.data(), size * sizeof(EventRef));
}

std::size_t event_count(const Trace& trace, std::span<const LaneId> lanes) {
  std::size_t count = 0;
  for (const LaneId lane : lanes) count += trace.lane(lane).size();
  return count;
}

// One byte a name: whether it contains the text.
std::vector<std::uint8_t> matching_names(const Trace& trace, std::string_view part) {
  std::vector<std::uint8_t> matches(trace.name_count());
  for (std::size_t i = 0; i < matches.size(); ++i) matches[i] = name_matches(trace.name(static_cast<NameId>(i)), part) ? 1 : 0;
  return matches;
}

// One byte a call node: whether a function of the chain has a matching name.
std::vector<std::uint8_t> matching_chains(const Trace& trace, const std::vector<std::uint8_t>& names) {
  const CallStacks& stacks = trace.call_stacks();
  std::vector<std::uint8_t> matches(stacks.node_count());
  for (CallNodeId node = 1; node < matches.size(); ++node) {  // callers come before their callees
    matches[node] = matches[stacks.node(node).parent];
    for (const CodeFunction& function : stacks.functions(stacks.node(node).location)) matches[node] |= names[function.function];
  }
  return matches;
}

bool has_chains(TrackKind kind) noexcept { return kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces; }

bool may_match(const Trace& trace, const TrackKey& key, const EventFilter& filter) noexcept {
  if (filter.thread && (is_on_stream(key.kind) || key.thread != *filter.thread)) return false;
  if (filter.stream && (!is_on_stream(key.kind) || StreamName{key.process, key.context, key.stream} != *filter.stream)) return false;
  if (!filter.kind) return true;
  switch (*filter.kind) {
    case EventKind::kKernel:
      return key.kind == TrackKind::kKernels;
    case EventKind::kCopy:
    case EventKind::kSet:
      return key.kind == TrackKind::kMemory;
    case EventKind::kGraphLaunch:
      return key.kind == TrackKind::kGraphLaunches;
    case EventKind::kSynchronization:
      return key.kind == TrackKind::kSynchronizations;
    case EventKind::kCudaApi:
      return key.kind == TrackKind::kCudaApi;
    case EventKind::kNvtxRange:
      return key.kind == TrackKind::kNvtxRanges || (key.kind == TrackKind::kNvtxProcessRanges && !is_of_python_lock(trace, key));
    case EventKind::kPythonLock:
      return is_of_python_lock(trace, key);
    case EventKind::kNvtxMark:
      return key.kind == TrackKind::kNvtxMarks;
    case EventKind::kOsRuntime:
      return key.kind == TrackKind::kOsRuntime;
    case EventKind::kOverhead:
      return key.kind == TrackKind::kOverhead;
    case EventKind::kCompilation:
      return key.kind == TrackKind::kCompilation;
    case EventKind::kPageFault:
      return key.kind == TrackKind::kPageFaults;
    case EventKind::kThreadState:
      return key.kind == TrackKind::kThreadStates || key.kind == TrackKind::kProcessors;
    case EventKind::kCpuSample:
      return key.kind == TrackKind::kCpuSamples;
    case EventKind::kBacktrace:
      return key.kind == TrackKind::kBacktraces;
    case EventKind::kMemoryUsage:
      return key.kind == TrackKind::kMemoryUsage;
    case EventKind::kCudaEvent:
      return key.kind == TrackKind::kCudaEvents;
  }
  return true;
}

// The first events of an order, found without sorting: what comes behind those that are known to come first is passed over.
class FirstPage {
 public:
  // Requires: count > 0. `bound`, where given: a number that nothing on the page comes behind.
  FirstPage(SortDirection direction, std::size_t count, std::optional<std::int64_t> bound) : direction_(direction), count_(count) {
    if (bound) last_ = Candidate{rank(*bound), SIZE_MAX, {}};
  }

  void read(const ColumnReader& reader, std::span<const EventRef> events, std::size_t begin, std::size_t end, const std::stop_token& stop) {
    std::vector<std::int64_t> numbers(kChunk);
    for (; begin < end && !stop.stop_requested(); begin += std::min(kChunk, end - begin)) {
      const std::span<const EventRef> chunk = events.subspan(begin, std::min(kChunk, end - begin));
      reader.read(chunk, std::span(numbers).first(chunk.size()));
      for (std::size_t i = 0; i < chunk.size(); ++i)
        if (const std::uint64_t ranked = rank(numbers[i]); ranked <= last_.rank) consider({ranked, begin + i, chunk[i]});
    }
  }
  void add(const FirstPage& other) {
    for (const Candidate& candidate : other.best_) consider(candidate);
  }
  std::vector<EventRef> take() {
    keep_first();
    std::sort(best_.begin(), best_.end(), comes_before);
    std::vector<EventRef> first(best_.size());
    std::transform(best_.begin(), best_.end(), first.begin(), [](const Candidate& candidate) { return candidate.event; });
    return first;
  }

 private:
  struct Candidate {
    std::uint64_t rank;
    std::size_t position;
    EventRef event;
  };
  static bool comes_before(const Candidate& a, const Candidate& b) noexcept {
    return a.rank != b.rank ? a.rank < b.rank : a.position < b.position;
  }
  // Ascends as wanted. Missing values, the least there are, come last in both directions.
  [[nodiscard]] std::uint64_t rank(std::int64_t number) const noexcept {
    const std::uint64_t above_missing = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(ColumnReader::kMissing);
    return direction_ == SortDirection::kAscending ? above_missing - 1 : UINT64_MAX - above_missing;
  }
  void consider(const Candidate& candidate) {
    if (!comes_before(candidate, last_)) return;
    best_.push_back(candidate);
    if (best_.size() >= 2 * count_ + kSmallestBatch) keep_first();
  }
  void keep_first() {
    if (best_.size() <= count_) return;
    std::nth_element(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(count_) - 1, best_.end(), comes_before);
    best_.resize(count_);
    last_ = best_.back();
  }

  SortDirection direction_;
  std::size_t count_;
  std::vector<Candidate> best_;               // the first so far, and others that came since they were last told apart
  Candidate last_{UINT64_MAX, SIZE_MAX, {}};  // nothing behind it is on the page
};

// A number that the first `count` events do not come behind: of a sample, the one that stands at `count`. None where a sample is not
// worth it.
std::optional<std::int64_t> bound_of_first(const ColumnReader& reader, std::span<const EventRef> events, SortDirection direction,
                                           std::size_t count) {
  const std::size_t size = kSampledPerFirst * count;
  if (count > events.size() / (4 * kSampledPerFirst)) return std::nullopt;
  std::vector<EventRef> sample(size);
  for (std::size_t i = 0; i < size; ++i) sample[i] = events[i * (events.size() / size)];
  FirstPage page(direction, count, std::nullopt);
  page.read(reader, sample, 0, size, {});
  const EventRef last = page.take().back();
  std::int64_t number = 0;
  reader.read(std::span(&last, 1), std::span(&number, 1));
  return number;
}

}  // namespace

std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop,
                                    std::size_t most) {
  const std::vector<std::uint8_t> matches = filter.text.empty() ? std::vector<std::uint8_t>() : matching_names(trace, filter.text);
  const std::vector<std::uint8_t> chains = matches.empty() ? std::vector<std::uint8_t>() : matching_chains(trace, matches);
  const auto is_found = [&](const Lane& lane, bool chained, EventIndex i) {
    return matches[lane.name(i)] != 0 || (chained && chains[trace.sample_detail(lane.detail(i)).call_node] != 0);
  };
  const bool by_operation = filter.kind == EventKind::kCopy || filter.kind == EventKind::kSet;
  std::vector<EventRef> events;
  if (const std::size_t count = event_count(trace, lanes); filter == EventFilter{}) reserve(events, count <= most ? count : most + kChunk);
  for (const LaneId id : lanes) {
    if (!may_match(trace, trace.track_of(id).key, filter)) continue;
    const Lane& lane = trace.lane(id);
    const bool chained = has_chains(trace.track_of(id).key.kind);
    const auto [first, last] = filter.window ? lane.overlapping(*filter.window) : std::pair<EventIndex, EventIndex>(0, lane.size());
    for (EventIndex begin = first; begin < last; begin += std::min<EventIndex>(kChunk, last - begin)) {
      if (stop.stop_requested() || events.size() > most) return events;
      const EventIndex end = begin + std::min<EventIndex>(kChunk, last - begin);
      for (EventIndex i = begin; i < end; ++i) {
        if (!matches.empty() && !is_found(lane, chained, i)) continue;
        if (filter.minimum_duration > 0 && lane.duration(i) < filter.minimum_duration) continue;
        if (by_operation && event_kind(trace, {id, i}) != *filter.kind) continue;
        events.push_back({id, i});
      }
    }
  }
  return events;
}

std::vector<EventRef> sort_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                  std::stop_token stop) {
  const ColumnReader reader(values, column, stop);
  LargeArray<std::int64_t> numbers(events.size());
  in_two_parts(events.size(), [&](std::size_t begin, std::size_t end) {
    for (; begin < end && !stop.stop_requested(); begin += std::min(kChunk, end - begin)) {
      const std::size_t count = std::min(kChunk, end - begin);
      reader.read(events.subspan(begin, count), numbers.span().subspan(begin, count));
    }
  });
  if (stop.stop_requested()) return {};
  const LargeArray<std::uint32_t> positions = sorted_positions(std::move(numbers), direction, stop);
  if (stop.stop_requested()) return {};
  std::vector<EventRef> order;
  reserve(order, positions.size());
  order.resize(positions.size());
  in_two_parts(order.size(), [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) order[begin] = events[positions[begin]];
  });
  return order;
}

std::vector<EventRef> first_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                   std::size_t count, std::stop_token stop) {
  if (count == 0 || events.empty()) return {};
  const ColumnReader reader(values, column, stop);
  const std::optional<std::int64_t> bound = bound_of_first(reader, events, direction, count);
  FirstPage first(direction, count, bound), second(direction, count, bound);
  in_two_parts(events.size(),
               [&](std::size_t begin, std::size_t end) { (begin == 0 ? first : second).read(reader, events, begin, end, stop); });
  if (stop.stop_requested()) return {};
  first.add(second);
  return first.take();
}

std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept {
  const auto found = std::find(order.begin(), order.end(), event);
  if (found == order.end()) return std::nullopt;
  return static_cast<std::size_t>(found - order.begin());
}

}  // namespace lanescope
