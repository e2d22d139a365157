// Sums of events by what columns say of them: how many, how long together, the shortest and the longest, by stream and grid for example.
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

// Events of which all columns say the same. Times in ns; each event counts with its whole duration.
struct PivotGroup {
  std::vector<std::string> values;  // one a column, as in ColumnValue
  std::uint64_t count = 0;          // one at least
  Nanoseconds total = 0;
  Nanoseconds minimum = 0;
  Nanoseconds maximum = 0;
  EventRef longest;  // the first that took the maximum
};

// Sums events as they come. Memory: that of the groups and of names; of a trace in memory, for NVTX ranges, 8 bytes for each event of a CPU beside.
//
// Threads: one at a time. The values must outlive it.
class PivotSums {
 public:
  // O(tracks); for NVTX ranges of a trace in memory O(events).
  PivotSums(const EventValues& values, std::span<const PivotColumn> columns, std::stop_token stop = {});
  ~PivotSums();
  PivotSums(const PivotSums&) = delete;
  PivotSums& operator=(const PivotSums&) = delete;

  // O(events); of NVTX ranges of a trace whose events are not in memory O(tracks · log n) for each. Requires: all are of lanes of the values' scope.
  void add(std::span<const EventRef> events);
  // The largest total first. Ends the summing.
  [[nodiscard]] std::vector<PivotGroup> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same of all at once. Empty when asked to stop.
[[nodiscard]] std::vector<PivotGroup> sum_by_columns(const EventValues& values, std::span<const EventRef> events, std::span<const PivotColumn> columns,
                                                     const std::stop_token& stop = {});
// Of events that are too many to be held. `progress` is told now and then how many were seen.
[[nodiscard]] std::vector<PivotGroup> sum_by_columns(const EventValues& values, const EventStream& events, std::span<const PivotColumn> columns,
                                                     const std::function<void(std::uint64_t)>& progress = {}, const std::stop_token& stop = {});

// Tells events of which columns say this.
//
// Threads: any number may ask at once. The trace must outlive it.
class HasValues {
 public:
  // O(tracks), and O(names) where names, or NVTX ranges, are among the columns.
  HasValues(const Trace& trace, std::vector<ColumnValue> values);
  ~HasValues();
  HasValues(HasValues&&) noexcept;
  HasValues& operator=(HasValues&&) noexcept;

  // Whether events of the track can be such; false: none is. O(columns).
  [[nodiscard]] bool may_hold(const Track& track) const;
  // O(columns); for NVTX ranges O(tracks · log n).
  [[nodiscard]] bool operator()(EventRef event) const;
  // Removes those from `first` on that are no such. O(events · columns); for NVTX ranges as RangeFinder, which takes least where they lie near each
  // other.
  void keep(std::vector<EventRef>& events, std::size_t first = 0) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace lanescope
