#include "model/events/event_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/events/name_family.h"
#include "model/events/samples.h"
#include "model/trace/saturated.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope {
namespace {

// Gives every name of a kind a dense number at its first occurrence.
class Groups {
 public:
  Groups(const Trace& trace, Grouping grouping) : trace_(trace), number_(trace.name_count() * kEventKindCount, kNone) {
    if (grouping == Grouping::kFamilies) first_of_family_.assign(trace.name_count(), kNone);
  }
  std::uint32_t number(EventKind kind, NameId name) {
    if (!first_of_family_.empty()) name = first_of_family(name);
    std::uint32_t& number = number_[static_cast<std::size_t>(kind) * trace_.name_count() + name];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(members_.size());
      members_.emplace_back(kind, name);
    }
    return number;
  }
  [[nodiscard]] const std::vector<std::pair<EventKind, NameId>>& members() const noexcept { return members_; }

 private:
  // The name of a family that occurred first.
  NameId first_of_family(NameId name) {
    NameId& first = first_of_family_[name];
    if (first == kNone) first = families_.try_emplace(name_family(trace_.name(name)), name).first->second;
    return first;
  }

  const Trace& trace_;
  std::vector<NameId> first_of_family_;  // by name; empty if names are not grouped
  std::unordered_map<std::string, NameId> families_;
  std::vector<std::uint32_t> number_;
  std::vector<std::pair<EventKind, NameId>> members_;
};

// Collects durations by name as they arrive.
class ByName {
 public:
  ByName(const Trace& trace, Grouping grouping) : trace_(trace), groups_(trace, grouping) {}

  void add(std::span<const EventRef> events) {
    for (const EventRef event : events) {
      const std::uint32_t number = groups_.number(event_kind(trace_, event), listed_name(trace_, event));
      if (number == entries_.size()) entries_.emplace_back();
      Entry& entry = entries_[number];
      const Nanoseconds duration = trace_.lane(event.lane).duration(event.index);
      entry.durations.push_back(duration);
      entry.total = saturated_sum(entry.total, duration);
      ++entry.count;
      entry.minimum = std::min(entry.minimum, duration);
      if (duration <= entry.maximum) continue;
      entry.maximum = duration;
      entry.longest = event;
    }
  }

  std::vector<NameStatistics> take(const std::stop_token& stop) {
    std::vector<NameStatistics> result;
    std::array<Nanoseconds, kEventKindCount> total_of_kind{};
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (stop.stop_requested()) return {};
      result.push_back(describe(i));
      total_of_kind[static_cast<std::size_t>(result.back().kind)] += result.back().total;
    }
    for (NameStatistics& entry : result) {
      const Nanoseconds total = total_of_kind[static_cast<std::size_t>(entry.kind)];
      entry.share = total > 0 ? static_cast<double>(entry.total) / static_cast<double>(total) : 0;
    }
    std::stable_sort(result.begin(), result.end(), [](const NameStatistics& a, const NameStatistics& b) { return a.total > b.total; });
    return result;
  }

 private:
  struct Entry {
    Samples durations;
    std::uint64_t count = 0;
    Nanoseconds total = 0;
    Nanoseconds minimum = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds maximum = -1;
    EventRef longest;
  };

  NameStatistics describe(std::size_t number) {
    Entry& entry = entries_[number];
    const auto [kind, name] = groups_.members()[number];
    NameStatistics result{kind, name};
    result.count = entry.count;
    result.total = entry.total;
    result.average = static_cast<double>(entry.total) / static_cast<double>(entry.count);
    result.minimum = entry.minimum;
    result.maximum = entry.maximum;
    result.longest = entry.longest;
    result.median = entry.durations.median();
    result.percentile_95 = entry.durations.percentile(95);
    entry.durations.clear();
    return result;
  }

  const Trace& trace_;
  Groups groups_;
  std::vector<Entry> entries_;
};

// Reads all durations twice instead of keeping them, because there may be as many as events of the trace. `for_each` calls its argument with each duration.
template <typename ForEach>
DurationHistogram histogram_of(ForEach for_each, std::size_t bins) {
  DurationHistogram histogram;
  bool any = false;
  Nanoseconds smallest = std::numeric_limits<Nanoseconds>::max(), largest = std::numeric_limits<Nanoseconds>::min();
  for_each([&](Nanoseconds duration) {
    any = true;
    smallest = std::min(smallest, duration);
    largest = std::max(largest, duration);
  });
  if (!any || bins == 0) return histogram;
  const double low = static_cast<double>(std::max<Nanoseconds>(smallest, 1));  // events without duration fall into the first bin
  const double high = std::max(static_cast<double>(largest), low);
  if (high == low) bins = 1;
  const double factor = bins > 1 ? std::log(high / low) / static_cast<double>(bins) : 1;
  for (std::size_t i = 0; i <= bins; ++i) histogram.bounds.push_back(low * std::exp(factor * static_cast<double>(i)));
  histogram.bounds.front() = std::min(low, static_cast<double>(smallest));
  if (bins > 1) histogram.bounds.back() = high;
  histogram.counts.assign(bins, 0);
  for_each([&](Nanoseconds duration) {
    const auto above = std::upper_bound(histogram.bounds.begin() + 1, histogram.bounds.end() - 1, static_cast<double>(duration));
    ++histogram.counts[static_cast<std::size_t>(above - histogram.bounds.begin() - 1)];
  });
  return histogram;
}

}  // namespace

std::vector<NameStatistics> statistics_by_name(const Trace& trace, std::span<const EventRef> events, std::stop_token stop, Grouping grouping) {
  constexpr std::size_t kEventsBetweenLooks = 1u << 16;
  ByName by_name(trace, grouping);
  for (; !events.empty() && !stop.stop_requested(); events = events.subspan(std::min(events.size(), kEventsBetweenLooks)))
    by_name.add(events.first(std::min(events.size(), kEventsBetweenLooks)));
  return by_name.take(stop);
}

std::vector<NameStatistics> statistics_by_name(const Trace& trace, const EventStream& events, std::stop_token stop, Grouping grouping) {
  ByName by_name(trace, grouping);
  events.visit(
      [&](std::span<const EventRef> part) {
        by_name.add(part);
        return true;
      },
      stop);
  return by_name.take(stop);
}

namespace {

// Sums of a window, by kind and name.
class WindowSums {
 public:
  explicit WindowSums(const Trace& trace) : trace_(trace), groups_(trace, Grouping::kNames) {}

  void add(LaneId id, TimeRange window) {
    const Lane& lane = trace_.lane(id);
    const auto [first, end] = lane.overlapping(window);
    const DemandedSegments* demanded = demanded_segments(lane);
    for (EventIndex begin = first; begin < end;) {
      const std::size_t s = begin / LaneSegment::kCapacity;
      const EventIndex behind = std::min<EventIndex>(end, static_cast<EventIndex>(s + 1) * LaneSegment::kCapacity);
      const bool is_whole = demanded != nullptr && behind - begin == demanded->bounds()[s].count;
      if (!is_whole || !add_head(id, begin, demanded->bounds()[s].names)) add_events(id, begin, behind);
      begin = behind;
    }
  }

  std::vector<NameSum> take() {
    std::stable_sort(sums_.begin(), sums_.end(), [](const NameSum& a, const NameSum& b) { return a.total > b.total; });
    return std::move(sums_);
  }

 private:
  // Adds the sums of a segment's head. Returns false if the head does not tell all names of its events and their kind.
  bool add_head(LaneId id, EventIndex begin, std::span<const NameTime> names) {
    const TrackKind kind = trace_.track_of(id).key.kind;
    const bool named_by_functions = kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces;
    if (names.empty() || kind == TrackKind::kMemory || named_by_functions) return false;  // copies and sets lie on one track
    const EventKind of_all = event_kind(trace_, {id, begin});
    for (const NameTime& each : names) add(of_all, each.name, each.count, each.total, each.least, each.greatest);
    return true;
  }
  void add_events(LaneId id, EventIndex begin, EventIndex end) {
    const Lane& lane = trace_.lane(id);
    for (EventIndex i = begin; i < end; ++i) {
      const Nanoseconds duration = lane.duration(i);
      add(event_kind(trace_, {id, i}), listed_name(trace_, {id, i}), 1, duration, duration, duration);
    }
  }
  void add(EventKind kind, NameId name, std::uint64_t count, Nanoseconds total, Nanoseconds least, Nanoseconds greatest) {
    const std::uint32_t number = groups_.number(kind, name);
    if (number == sums_.size()) sums_.push_back({kind, name, 0, 0, least, greatest});
    NameSum& sum = sums_[number];
    sum.count += count;
    sum.total = saturated_sum(sum.total, total);
    sum.minimum = std::min(sum.minimum, least);
    sum.maximum = std::max(sum.maximum, greatest);
  }

  const Trace& trace_;
  Groups groups_;
  std::vector<NameSum> sums_;
};

}  // namespace

std::vector<NameSum> sums_by_name(const Trace& trace, std::span<const LaneId> lanes, TimeRange window, std::stop_token stop) {
  WindowSums sums(trace);
  for (const LaneId lane : lanes) {
    if (stop.stop_requested()) return {};
    sums.add(lane, window);
  }
  return sums.take();
}

DurationHistogram duration_histogram(const Trace& trace, std::span<const EventRef> events, std::size_t bins) {
  return histogram_of(
      [&](auto visit) {
        for (const EventRef event : events) visit(trace.lane(event.lane).duration(event.index));
      },
      bins);
}

DurationHistogram duration_histogram(std::span<const Nanoseconds> durations, std::size_t bins) {
  return histogram_of([&](auto visit) { std::for_each(durations.begin(), durations.end(), visit); }, bins);
}

DurationHistogram duration_histogram(const Trace& trace, const EventStream& events, std::size_t bins, const std::stop_token& stop) {
  const auto for_each = [&](auto visit) {
    events.visit(
        [&](std::span<const EventRef> part) {
          for (const EventRef event : part) visit(trace.lane(event.lane).duration(event.index));
          return true;
        },
        stop);
  };
  DurationHistogram histogram = histogram_of(for_each, bins);
  return stop.stop_requested() ? DurationHistogram() : histogram;
}

namespace {

// True if an event is of a kind and name, or of the name's family.
class IsNamed {
 public:
  IsNamed(const Trace& trace, EventKind kind, NameId name, Grouping grouping) : trace_(trace), kind_(kind), is_wanted_(trace.name_count()) {
    is_wanted_[name] = 1;
    if (grouping == Grouping::kNames) return;
    const std::string family = name_family(trace.name(name));
    for (NameId other = 0; other < is_wanted_.size(); ++other) is_wanted_[other] = name_family(trace.name(other)) == family ? 1 : 0;
  }
  bool operator()(EventRef event) const { return is_wanted_[listed_name(trace_, event)] != 0 && event_kind(trace_, event) == kind_; }

 private:
  const Trace& trace_;
  EventKind kind_;
  std::vector<std::uint8_t> is_wanted_;
};

}  // namespace

std::vector<EventRef> events_named(const Trace& trace, std::span<const EventRef> events, EventKind kind, NameId name, Grouping grouping) {
  std::vector<EventRef> named;
  std::copy_if(events.begin(), events.end(), std::back_inserter(named), IsNamed(trace, kind, name, grouping));
  return named;
}

EventStream events_named(const Trace& trace, EventStream events, EventKind kind, NameId name, Grouping grouping) {
  return kept_of(std::move(events), [is_named = IsNamed(trace, kind, name, grouping)](EventRef event) { return is_named(event); });
}

}  // namespace lanescope
