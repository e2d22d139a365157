#include "model/events/event_query.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "model/events/column_reader.h"
#include "model/trace/segments/demanded_segments.h"
#include "passage.h"
#include "sorted_positions.h"

namespace lanescope {
namespace {

constexpr std::size_t kChunk = 1u << 14;         // events between two checks of the stop token
constexpr std::size_t kSmallestBatch = 1024;     // candidates for a first page that are compared at once
constexpr std::size_t kSampledPerFirst = 64;     // events of a sample, for each wanted event
constexpr std::size_t kSortedAtOnce = 1u << 20;  // events by start: the memory for that is small compared to that of all events

// Finds the first events of an order without sorting: events after those that are known to come first are skipped.
class FirstPage {
 public:
  // Requires: count > 0. `bound`, if given: a number; nothing on the page comes after it.
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
  static bool comes_before(const Candidate& a, const Candidate& b) noexcept { return a.rank != b.rank ? a.rank < b.rank : a.position < b.position; }
  [[nodiscard]] std::uint64_t rank(std::int64_t number) const noexcept { return sort_rank(number, direction_); }
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
  std::vector<Candidate> best_;               // the first so far, and others that were added since the last comparison
  Candidate last_{UINT64_MAX, SIZE_MAX, {}};  // nothing after it is on the page
};

// A number such that none of the first `count` events comes after it: in a sample, the one at position `count`. None if a sample is not worth it.
std::optional<std::int64_t> bound_of_first(const ColumnReader& reader, std::span<const EventRef> events, SortDirection direction, std::size_t count) {
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

// Times that divide the events into parts of about kSortedAtOnce; the last is after all of them. O(events / 4096), and decodes nothing.
std::vector<Nanoseconds> ends_of_parts(const Trace& trace, const std::vector<Stretch>& stretches) {
  constexpr EventIndex kStep = 1u << 12;  // events from one examined event to the next
  static_assert(LaneSegment::kCapacity % kStep == 0);
  std::vector<Nanoseconds> ends, starts;
  if (event_count(stretches) > kSortedAtOnce) {
    EventIndex passed = 0;  // since the last cut
    for (const Stretch& stretch : stretches) {
      const Lane& lane = trace.lane(stretch.lane);
      const EventIndex size = stretch.last - stretch.first;
      EventIndex next = kStep - passed;
      for (; next <= size; next += kStep) {
        const EventIndex i = stretch.first + next - 1;
        starts.push_back(lane.holds_segments() ? lane.start(i) : lane.segment_start(i / LaneSegment::kCapacity));
      }
      passed = size + kStep - next;
    }
    std::sort(starts.begin(), starts.end());
    for (std::size_t i = kSortedAtOnce / kStep; i < starts.size(); i += kSortedAtOnce / kStep)
      if (ends.empty() || ends.back() < starts[i]) ends.push_back(starts[i]);
  }
  ends.push_back(std::numeric_limits<Nanoseconds>::max());
  return ends;
}

// Appends the events by start; equal ones in their old order.
void append_by_start(const Trace& trace, const std::vector<EventRef>& part, std::vector<EventRef>& events, const std::stop_token& stop) {
  LargeArray<std::int64_t> starts(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) starts[i] = trace.lane(part[i].lane).start(part[i].index);
  if (std::is_sorted(starts.begin(), starts.end())) {
    events.insert(events.end(), part.begin(), part.end());
    return;
  }
  LargeArray<std::uint32_t> positions = sorted_positions(std::move(starts), SortDirection::kAscending, stop);
  if (stop.stop_requested()) return;
  for (const std::uint32_t position : positions.span()) events.push_back(part[position]);
}

}  // namespace

std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop, std::size_t most) {
  const Passage passage(trace, lanes, filter);
  std::vector<EventRef> events;
  passage.reserve_for_all(events, most);
  for (const Stretch& stretch : passage.stretches()) {
    if (events.size() > most) break;
    passage.gather(stretch, events, stop, most);
  }
  return events;
}

std::vector<EventRef> gather_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop, std::size_t most) {
  const Passage passage(trace, lanes, filter);
  std::vector<Stretch> rest = passage.stretches();
  std::vector<EventRef> events, part;
  passage.reserve_for_all(events, most);
  for (const Nanoseconds end : ends_of_parts(trace, rest)) {
    const bool is_in_order = rest.size() < 2;
    std::vector<EventRef>& into = is_in_order ? events : part;
    part.clear();
    for (Stretch& stretch : rest) {
      const EventIndex last = std::clamp(trace.lane(stretch.lane).lower_bound(end), stretch.first, stretch.last);
      passage.gather({stretch.lane, stretch.first, last, stretch.chained}, into, stop, most);
      stretch.first = last;
    }
    if (!is_in_order) append_by_start(trace, part, events, stop);
    if (stop.stop_requested()) return {};
    if (events.size() > most) break;
    std::erase_if(rest, [](const Stretch& stretch) { return stretch.first == stretch.last; });
  }
  return events;
}

void visit_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, const EventVisitor& visit, std::stop_token stop) {
  const Passage passage(trace, lanes, filter);
  std::vector<Stretch> rest = passage.stretches();
  std::vector<EventRef> part, sorted;
  for (const Nanoseconds end : ends_of_parts(trace, rest)) {
    part.clear();
    sorted.clear();
    for (Stretch& stretch : rest) {
      const EventIndex last = std::clamp(trace.lane(stretch.lane).lower_bound(end), stretch.first, stretch.last);
      passage.gather({stretch.lane, stretch.first, last, stretch.chained}, part, stop, std::numeric_limits<std::size_t>::max());
      stretch.first = last;
    }
    append_by_start(trace, part, sorted, stop);
    if (stop.stop_requested() || !visit(sorted)) return;
    std::erase_if(rest, [](const Stretch& stretch) { return stretch.first == stretch.last; });
  }
}

EventStream stream_by_start(const Trace& trace, std::vector<LaneId> lanes, EventFilter filter) {
  EventStream stream;
  stream.most = event_count(Passage(trace, lanes, filter).stretches());
  stream.longest = [&trace, lanes, filter](std::size_t count, const std::stop_token& stop) { return longest_events(trace, lanes, filter, count, stop); };
  stream.after_longest_gaps = [lanes, filter](const EventValues& values, std::size_t count, const std::stop_token& stop) {
    return events_after_longest_gaps(values, lanes, filter, count, stop);
  };
  stream.visit = [&trace, lanes = std::move(lanes), filter = std::move(filter)](const EventVisitor& visitor, const std::stop_token& stop) {
    visit_by_start(trace, lanes, filter, visitor, stop);
  };
  return stream;
}

namespace {

// A part of a stretch in one segment, and an upper bound of the durations of its events.
struct SegmentPart {
  Nanoseconds most = 0;
  Stretch part;
};

std::vector<SegmentPart> parts_by_longest(const Trace& trace, const std::vector<Stretch>& stretches) {
  constexpr Nanoseconds kUnknown = std::numeric_limits<Nanoseconds>::max();
  std::vector<SegmentPart> parts;
  for (const Stretch& stretch : stretches) {
    const DemandedSegments* demanded = demanded_segments(trace.lane(stretch.lane));
    for (EventIndex begin = stretch.first; begin < stretch.last;) {
      const std::size_t s = begin / LaneSegment::kCapacity;
      const EventIndex end = std::min<EventIndex>(stretch.last, static_cast<EventIndex>(s + 1) * LaneSegment::kCapacity);
      parts.push_back({demanded == nullptr ? kUnknown : demanded->bounds()[s].longest, {stretch.lane, begin, end, stretch.chained}});
      begin = end;
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const SegmentPart& a, const SegmentPart& b) { return a.most > b.most; });
  return parts;
}

}  // namespace

std::optional<std::vector<EventRef>> longest_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::size_t count,
                                                    const std::stop_token& stop) {
  // What can be decoded in a second or two. If there are very many rows, most have few events, and their segments are read quickly.
  constexpr std::uint64_t kMostEvents = std::uint64_t{600} * LaneSegment::kCapacity, kEventsOfRead = 1'024;
  struct Long {
    Nanoseconds duration, start;
    EventRef event;
  };
  const auto comes_first = [](const Long& a, const Long& b) {
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.start != b.start ? a.start < b.start : a.event < b.event;
  };
  const Passage passage(trace, lanes, filter);
  std::vector<Long> first;
  std::vector<EventRef> found;
  std::uint64_t read = 0;  // events, including kEventsOfRead for each segment that is read
  const auto keep_first = [&] {
    std::sort(first.begin(), first.end(), comes_first);
    if (first.size() > count) first.resize(count);
  };
  for (const SegmentPart& part : parts_by_longest(trace, passage.stretches())) {
    const bool is_full = first.size() == count;
    if (is_full && (count == 0 || part.most < first.back().duration)) break;
    if (stop.stop_requested() || read > kMostEvents) return std::nullopt;
    read += kEventsOfRead + (part.part.last - part.part.first);
    found.clear();
    passage.gather(part.part, found, stop, std::numeric_limits<std::size_t>::max());
    const Lane& lane = trace.lane(part.part.lane);
    for (const EventRef event : found)
      if (const Nanoseconds duration = lane.duration(event.index); !is_full || duration >= first[count - 1].duration)
        first.push_back({duration, lane.start(event.index), event});
    keep_first();
  }
  if (stop.stop_requested()) return std::nullopt;
  std::vector<EventRef> events;
  for (const Long& each : first) events.push_back(each.event);
  return events;
}

EventStream kept_of(EventStream events, std::function<bool(EventRef)> wanted) {
  EventStream kept;
  kept.most = events.most;
  kept.visit = [visit = std::move(events.visit), wanted = std::move(wanted)](const EventVisitor& visitor, const std::stop_token& stop) {
    std::vector<EventRef> of_part;
    visit(
        [&](std::span<const EventRef> part) {
          of_part.clear();
          std::copy_if(part.begin(), part.end(), std::back_inserter(of_part), wanted);
          return visitor(of_part);
        },
        stop);
  };
  return kept;
}

namespace {

bool comes_before(const EventPosition& a, const EventPosition& b) noexcept { return a.start != b.start ? a.start < b.start : a.event < b.event; }

// The first or the last of the events that start within the window; none if `wanted` accepts none.
template <typename Wanted>
std::optional<EventRef> outermost_event(const Trace& trace, std::span<const LaneId> lanes, EventFilter filter, TimeRange window, SearchDirection direction,
                                        const std::stop_token& stop, Wanted wanted) {
  std::optional<EventRef> found;
  filter.window = window;
  visit_by_start(
      trace, lanes, filter,
      [&](std::span<const EventRef> part) {
        for (const EventRef event : part) {
          const Nanoseconds start = trace.lane(event.lane).start(event.index);
          if (start < window.begin || start >= window.end || !wanted(EventPosition{start, event})) continue;
          found = event;
          if (direction == SearchDirection::kForward) return false;
        }
        return true;
      },
      stop);
  return stop.stop_requested() ? std::nullopt : found;
}

}  // namespace

std::optional<EventRef> find_event(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, EventPosition from, SearchDirection direction,
                                   const std::stop_token& stop) {
  const TimeRange all{trace.extent().begin, trace.extent().end + 1};  // an event without duration may be at the end
  const auto any = [](const EventPosition&) { return true; };
  if (direction == SearchDirection::kForward) {
    const TimeRange behind{std::max(from.start, all.begin), all.end};
    const auto found = outermost_event(trace, lanes, filter, behind, direction, stop, [&](const EventPosition& place) { return comes_before(from, place); });
    return found ? found : outermost_event(trace, lanes, filter, all, direction, stop, any);
  }
  // Backwards, in increasingly long pieces of time.
  constexpr Nanoseconds kFirstPieces = 1024;  // of the whole time
  const Nanoseconds here = std::clamp(from.start, all.begin, all.end - 1);
  const auto search = [&](Nanoseconds end, auto wanted) {
    std::optional<EventRef> found;
    for (Nanoseconds length = all.length() / kFirstPieces + 1; !found && end > all.begin && !stop.stop_requested(); length *= 2) {
      const Nanoseconds begin = end - std::min(length, end - all.begin);
      found = outermost_event(trace, lanes, filter, {begin, end}, direction, stop, wanted);
      end = begin;
    }
    return found;
  };
  const auto found = search(here + 1, [&](const EventPosition& place) { return comes_before(place, from); });
  return found ? found : search(all.end, any);
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

std::vector<EventRef> first_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction, std::size_t count,
                                   std::stop_token stop) {
  if (count == 0 || events.empty()) return {};
  const ColumnReader reader(values, column, stop);
  const std::optional<std::int64_t> bound = bound_of_first(reader, events, direction, count);
  FirstPage first(direction, count, bound), second(direction, count, bound);
  in_two_parts(events.size(), [&](std::size_t begin, std::size_t end) { (begin == 0 ? first : second).read(reader, events, begin, end, stop); });
  if (stop.stop_requested()) return {};
  first.add(second);
  return first.take();
}

std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept {
  const auto found = std::find(order.begin(), order.end(), event);
  if (found == order.end()) return std::nullopt;
  return static_cast<std::size_t>(found - order.begin());
}

std::optional<std::size_t> position_by_start(const Trace& trace, std::span<const EventRef> events, EventRef event) {
  const auto place = [&](EventRef each) { return std::pair(trace.lane(each.lane).start(each.index), each); };
  const auto found = std::lower_bound(events.begin(), events.end(), place(event), [&](EventRef each, const auto& wanted) { return place(each) < wanted; });
  if (found == events.end() || *found != event) return std::nullopt;
  return static_cast<std::size_t>(found - events.begin());
}

std::optional<std::size_t> position_in_order(const EventValues& values, std::span<const EventRef> order, EventRef event, EventColumn column,
                                             SortDirection direction) {
  const ColumnContent content = event_column_content(column);
  const bool is_text = content == ColumnContent::kText;
  const Trace& trace = values.trace();
  struct Value {
    std::uint64_t rank = 0;
    std::string text;
  };
  const auto value_of = [&](EventRef each) {
    if (is_text) return Value{0, values.text(each, column)};
    return Value{sort_rank(values.number(each, column).value_or(ColumnReader::kMissing), direction), {}};
  };
  const Value wanted = value_of(event);
  const auto comes_before = [&](const Value& a, const Value& b) {
    if (!is_text) return a.rank < b.rank;
    if (a.text.empty() || b.text.empty()) return !a.text.empty() && b.text.empty();
    return direction == SortDirection::kAscending ? reads_before(a.text, b.text) : reads_before(b.text, a.text);
  };
  const auto first = std::partition_point(order.begin(), order.end(), [&](EventRef each) { return comes_before(value_of(each), wanted); });
  const auto last = std::partition_point(first, order.end(), [&](EventRef each) { return !comes_before(wanted, value_of(each)); });
  const auto begin = static_cast<std::size_t>(first - order.begin());
  const auto alike = order.subspan(begin, static_cast<std::size_t>(last - first));
  if (const auto place = position_by_start(trace, alike, event)) return begin + *place;
  return position_of(order, event);
}

}  // namespace lanescope
