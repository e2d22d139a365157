// Durations by name, and their distribution.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "model/events/event_column.h"
#include "model/events/event_query.h"

namespace lanescope {

// All times in ns. Each event counts with its whole duration.
struct NameStatistics {
  EventKind kind = EventKind::kKernel;
  NameId name = 0;
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  double share = 0;  // of the total of all events of the same kind, 0 to 1
  double average = 0;
  double median = 0;         // mean of the middle two if the number of events is even
  double percentile_95 = 0;  // by linear interpolation between two durations
  Nanoseconds minimum = 0;
  Nanoseconds maximum = 0;
  EventRef longest;  // the first with the maximum duration
};

enum class Grouping : std::uint8_t {
  kNames,
  kFamilies,  // names that differ only in their counters (name_family): an entry has one of these names
};

// One entry for each kind and name, or family of names; largest total first. O(events), and memory for their different durations. Empty if asked to stop.
[[nodiscard]] std::vector<NameStatistics> statistics_by_name(const Trace& trace, std::span<const EventRef> events, std::stop_token stop = {},
                                                             Grouping grouping = Grouping::kNames);
[[nodiscard]] std::vector<NameStatistics> statistics_by_name(const Trace& trace, const EventStream& events, std::stop_token stop = {},
                                                             Grouping grouping = Grouping::kNames);

// Statistics of the events of a name that need no ordering of their durations. Times in ns.
struct NameSum {
  EventKind kind = EventKind::kKernel;
  NameId name = 0;
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  Nanoseconds minimum = 0;
  Nanoseconds maximum = 0;
};
// The sums of the events that overlap the window, or start in it: one entry for each kind and name, largest total first. O(segments + events of segments that
// the window cuts or whose heads do not list all names). Empty if asked to stop.
[[nodiscard]] std::vector<NameSum> sums_by_name(const Trace& trace, std::span<const LaneId> lanes, TimeRange window, std::stop_token stop = {});

// Durations counted in bins whose bounds grow by a constant factor, because durations differ by orders of magnitude.
struct DurationHistogram {
  std::vector<double> bounds;  // ns; one more than there are bins; bin i is [bounds[i], bounds[i + 1]), the last one closed
  std::vector<std::uint64_t> counts;
  [[nodiscard]] bool empty() const noexcept { return counts.empty(); }
};

// Durations of these events in at most `bins` bins from the shortest to the longest; one bin if all are equal. O(events).
[[nodiscard]] DurationHistogram duration_histogram(const Trace& trace, std::span<const EventRef> events, std::size_t bins);
[[nodiscard]] DurationHistogram duration_histogram(std::span<const Nanoseconds> durations, std::size_t bins);
// Reads the events twice. Empty if asked to stop.
[[nodiscard]] DurationHistogram duration_histogram(const Trace& trace, const EventStream& events, std::size_t bins, const std::stop_token& stop = {});

// The events of one kind and name, or of the name's family, in their order. O(events).
[[nodiscard]] std::vector<EventRef> events_named(const Trace& trace, std::span<const EventRef> events, EventKind kind, NameId name,
                                                 Grouping grouping = Grouping::kNames);
// The trace must outlive it.
[[nodiscard]] EventStream events_named(const Trace& trace, EventStream events, EventKind kind, NameId name, Grouping grouping = Grouping::kNames);

}  // namespace lanescope
