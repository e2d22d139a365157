// Sums of events by the values of columns: their number, their total, shortest and longest duration, for example by stream and grid.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/events/event_query.h"
#include "model/events/event_values.h"
#include "model/events/pivot_column.h"

namespace lanescope {

// Events with the same values in all columns. Times in ns; each event counts with its whole duration.
struct PivotGroup {
  std::vector<std::string> values;  // one per column, as in ColumnValue
  std::uint64_t count = 0;          // at least one
  Nanoseconds total = 0;
  Nanoseconds minimum = 0;
  Nanoseconds maximum = 0;
  EventRef longest;  // the first with the maximum duration
};

// Sums events as they arrive. Memory: that of the groups and of names; for NVTX ranges of a trace in memory, also 8 bytes for each event of a CPU.
//
// Threads: one at a time. The values must outlive it.
class PivotSums {
 public:
  // O(tracks); for NVTX ranges of a trace in memory O(events).
  PivotSums(const EventValues& values, std::span<const PivotColumn> columns, std::stop_token stop = {});
  ~PivotSums();
  PivotSums(const PivotSums&) = delete;
  PivotSums& operator=(const PivotSums&) = delete;

  // O(events); for NVTX ranges of a trace whose events are not in memory, O(tracks · log n) for each. Requires: all events are of lanes of the values' scope.
  void add(std::span<const EventRef> events);
  // Sorted by total, largest first. Ends the summing.
  [[nodiscard]] std::vector<PivotGroup> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same for all events at once. Empty if asked to stop.
[[nodiscard]] std::vector<PivotGroup> sum_by_columns(const EventValues& values, std::span<const EventRef> events, std::span<const PivotColumn> columns,
                                                     const std::stop_token& stop = {});
// For too many events to hold in memory. `progress` is called from time to time with the number of events so far.
[[nodiscard]] std::vector<PivotGroup> sum_by_columns(const EventValues& values, const EventStream& events, std::span<const PivotColumn> columns,
                                                     const std::function<void(std::uint64_t)>& progress = {}, const std::stop_token& stop = {});

// Recognizes events with these values in their columns.
//
// Threads: any number may ask at once. The trace must outlive it.
class HasValues {
 public:
  // O(tracks), and O(names) if names or NVTX ranges are among the columns.
  HasValues(const Trace& trace, std::vector<ColumnValue> values);
  ~HasValues();
  HasValues(HasValues&&) noexcept;
  HasValues& operator=(HasValues&&) noexcept;

  // True if the track may have such events; false: it has none. O(columns).
  [[nodiscard]] bool may_hold(const Track& track) const;
  // O(columns); for NVTX ranges O(tracks · log n).
  [[nodiscard]] bool operator()(EventRef event) const;
  // Removes the other events from `first` on. O(events · columns); for NVTX ranges the cost of RangeFinder, which is lowest if the events lie near each other.
  void keep(std::vector<EventRef>& events, std::size_t first = 0) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace lanescope
