#include "model/events/event_query.h"

#include <algorithm>
#include <array>
#include <bit>
#include <thread>
#include <utility>

#include "model/events/column_reader.h"

namespace lanescope {
namespace {

constexpr std::size_t kChunk = 1u << 14;         // events between two looks at the stop token
constexpr std::size_t kSmallestBatch = 1024;     // candidates for a first page that are told apart at once
constexpr std::size_t kSampledPerFirst = 64;     // events of a sample, for each that is wanted first
constexpr std::size_t kWorthThreads = 1u << 18;  // events that one thread takes about a millisecond for
constexpr std::size_t kThreads = 2;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains_ignoring_case(std::string_view text, std::string_view part) noexcept {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// One byte a name: whether it contains the text.
std::vector<std::uint8_t> matching_names(const Trace& trace, std::string_view part) {
  std::vector<std::uint8_t> matches(trace.name_count());
  for (std::size_t i = 0; i < matches.size(); ++i) matches[i] = contains_ignoring_case(trace.name(static_cast<NameId>(i)), part);
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

bool may_match(const TrackKey& key, const EventFilter& filter) noexcept {
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
      return key.kind == TrackKind::kNvtxRanges || key.kind == TrackKind::kNvtxProcessRanges;
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

// Keys that sort ascending as wanted: missing values come last in both directions. Smallest key 0, so that few bits are in use.
class SortKeys {
 public:
  SortKeys(std::span<const std::int64_t> numbers, SortDirection direction) : direction_(direction) {
    for (const std::int64_t number : numbers) {
      if (number == ColumnReader::kMissing) continue;
      smallest_ = std::min(smallest_, number);
      largest_ = std::max(largest_, number);
    }
  }
  [[nodiscard]] std::uint64_t operator()(std::int64_t number) const noexcept {
    if (number == ColumnReader::kMissing) return missing();
    return direction_ == SortDirection::kAscending ? difference(number, smallest_) : difference(largest_, number);
  }
  [[nodiscard]] int bits() const noexcept { return std::bit_width(missing()); }

 private:
  static std::uint64_t difference(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  }
  [[nodiscard]] std::uint64_t missing() const noexcept { return largest_ < smallest_ ? 0 : difference(largest_, smallest_) + 1; }

  SortDirection direction_;
  std::int64_t smallest_ = INT64_MAX;
  std::int64_t largest_ = INT64_MIN;
};

struct Keyed {
  std::uint64_t key;
  EventRef event;
};

// Least significant digit first; stable. False when asked to stop.
bool radix_sort(std::vector<Keyed>& entries, int bits, std::stop_token stop) {
  constexpr int kDigitBits = 11;
  constexpr std::uint64_t kDigitMask = (1u << kDigitBits) - 1;
  std::vector<Keyed> other(entries.size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    if (stop.stop_requested()) return false;
    std::array<std::size_t, kDigitMask + 1> next{};
    for (const Keyed& entry : entries) ++next[(entry.key >> shift) & kDigitMask];
    if (std::any_of(next.begin(), next.end(), [&](std::size_t count) { return count == entries.size(); })) continue;
    std::size_t sum = 0;
    for (std::size_t& position : next) sum += std::exchange(position, sum);
    for (const Keyed& entry : entries) other[next[(entry.key >> shift) & kDigitMask]++] = entry;
    entries.swap(other);
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

std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop) {
  const std::vector<std::uint8_t> matches = filter.text.empty() ? std::vector<std::uint8_t>() : matching_names(trace, filter.text);
  const std::vector<std::uint8_t> chains = matches.empty() ? std::vector<std::uint8_t>() : matching_chains(trace, matches);
  const auto is_found = [&](const Lane& lane, bool chained, EventIndex i) {
    return matches[lane.name(i)] != 0 || (chained && chains[trace.sample_detail(lane.detail(i)).call_node] != 0);
  };
  const bool by_operation = filter.kind == EventKind::kCopy || filter.kind == EventKind::kSet;
  std::vector<EventRef> events;
  for (const LaneId id : lanes) {
    if (!may_match(trace.track_of(id).key, filter)) continue;
    const Lane& lane = trace.lane(id);
    const bool chained = has_chains(trace.track_of(id).key.kind);
    const auto [first, last] = filter.window ? lane.overlapping(*filter.window) : std::pair<EventIndex, EventIndex>(0, lane.size());
    for (EventIndex begin = first; begin < last; begin += std::min<EventIndex>(kChunk, last - begin)) {
      if (stop.stop_requested()) return events;
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
  std::vector<std::int64_t> numbers(events.size());
  for (std::size_t begin = 0; begin < events.size(); begin += kChunk) {
    if (stop.stop_requested()) return {};
    const std::size_t count = std::min(kChunk, events.size() - begin);
    reader.read(events.subspan(begin, count), std::span(numbers).subspan(begin, count));
  }
  const SortKeys key(numbers, direction);
  std::vector<Keyed> entries(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) entries[i] = {key(numbers[i]), events[i]};
  numbers = {};
  if (!radix_sort(entries, key.bits(), stop)) return {};
  std::vector<EventRef> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(), [](const Keyed& entry) { return entry.event; });
  return order;
}

std::vector<EventRef> first_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                   std::size_t count, std::stop_token stop) {
  if (count == 0 || events.empty()) return {};
  const ColumnReader reader(values, column, stop);
  const std::optional<std::int64_t> bound = bound_of_first(reader, events, direction, count);
  std::vector<FirstPage> pages(events.size() >= kWorthThreads ? kThreads : 1, FirstPage(direction, count, bound));
  {
    std::vector<std::jthread> others;
    const std::size_t share = (events.size() + pages.size() - 1) / pages.size();
    const auto read_part = [&](std::size_t part) {
      pages[part].read(reader, events, part * share, std::min(events.size(), (part + 1) * share), stop);
    };
    for (std::size_t part = 1; part < pages.size(); ++part) others.emplace_back(read_part, part);
    read_part(0);
  }
  if (stop.stop_requested()) return {};
  for (std::size_t part = 1; part < pages.size(); ++part) pages.front().add(pages[part]);
  return pages.front().take();
}

std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept {
  const auto found = std::find(order.begin(), order.end(), event);
  if (found == order.end()) return std::nullopt;
  return static_cast<std::size_t>(found - order.begin());
}

}  // namespace lanescope
