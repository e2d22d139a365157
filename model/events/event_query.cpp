#include "model/events/event_query.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "model/events/column_reader.h"

namespace lanescope {
namespace {

constexpr std::size_t kChunk = 1u << 16;      // events between two looks at the stop token
constexpr std::size_t kSmallestBatch = 1024;  // candidates for a first page that are told apart at once

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

}  // namespace

std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop) {
  const std::vector<std::uint8_t> matches = filter.text.empty() ? std::vector<std::uint8_t>() : matching_names(trace, filter.text);
  const bool by_operation = filter.kind == EventKind::kCopy || filter.kind == EventKind::kSet;
  std::vector<EventRef> events;
  for (const LaneId id : lanes) {
    if (!may_match(trace.track_of(id).key, filter)) continue;
    const Lane& lane = trace.lane(id);
    const auto [first, last] = filter.window ? lane.overlapping(*filter.window) : std::pair<EventIndex, EventIndex>(0, lane.size());
    for (EventIndex begin = first; begin < last; begin += std::min<EventIndex>(kChunk, last - begin)) {
      if (stop.stop_requested()) return events;
      const EventIndex end = begin + std::min<EventIndex>(kChunk, last - begin);
      for (EventIndex i = begin; i < end; ++i) {
        if (!matches.empty() && !matches[lane.name(i)]) continue;
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
  struct Candidate {
    std::int64_t number;
    std::size_t position;
    EventRef event;
  };
  const auto comes_before = [&](const Candidate& a, const Candidate& b) {
    const bool missing_a = a.number == ColumnReader::kMissing, missing_b = b.number == ColumnReader::kMissing;
    if (missing_a != missing_b) return missing_b;
    if (a.number != b.number) return direction == SortDirection::kAscending ? a.number < b.number : a.number > b.number;
    return a.position < b.position;
  };
  const ColumnReader reader(values, column, stop);
  std::vector<std::int64_t> numbers(std::min(kChunk, events.size()));
  std::vector<Candidate> best;  // the best so far, and others that came since they were last told apart
  std::optional<Candidate> last_of_best;
  const auto keep_best = [&] {
    if (best.size() <= count) return;
    std::nth_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(count) - 1, best.end(), comes_before);
    best.resize(count);
    last_of_best = best.back();
  };
  for (std::size_t begin = 0; begin < events.size() && count > 0; begin += kChunk) {
    if (stop.stop_requested()) return {};
    const std::span<const EventRef> chunk = events.subspan(begin, std::min(kChunk, events.size() - begin));
    reader.read(chunk, std::span(numbers).first(chunk.size()));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const Candidate candidate{numbers[i], begin + i, chunk[i]};
      if (last_of_best && !comes_before(candidate, *last_of_best)) continue;
      best.push_back(candidate);
      if (best.size() >= 2 * count + kSmallestBatch) keep_best();
    }
  }
  keep_best();
  std::sort(best.begin(), best.end(), comes_before);
  std::vector<EventRef> first(best.size());
  std::transform(best.begin(), best.end(), first.begin(), [](const Candidate& candidate) { return candidate.event; });
  return first;
}

std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept {
  const auto found = std::find(order.begin(), order.end(), event);
  if (found == order.end()) return std::nullopt;
  return static_cast<std::size_t>(found - order.begin());
}

}  // namespace lanescope
