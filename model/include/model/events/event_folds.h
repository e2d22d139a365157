// Lists of events in which events of one kind whose names differ only in their counters (name_family) form one line that unfolds.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/events/event_query.h"
#include "model/events/event_values.h"

namespace lanescope {

struct EventFold {
  EventKind kind = EventKind::kKernel;
  std::string family;
  std::vector<EventRef> events;  // all, in the order of the list; for a stream, only the first by start
  std::uint64_t count = 0;       // at least one
  Nanoseconds start = 0;         // of the first by time
  Nanoseconds duration = 0;      // sum of all
  std::uint64_t bytes = 0;       // sum of all
};

// Folds the events of a list that is ordered by a column. Folds are ordered by their own value in that column (start, duration, bytes, family), else by their
// first events. O(events + folds · log folds). Empty if asked to stop.
[[nodiscard]] std::vector<EventFold> fold_events(const EventValues& values, std::span<const EventRef> order, EventColumn column, SortDirection direction,
                                                 const std::stop_token& stop = {});

// For too many events to hold in memory. If the column has no sum, folds are ordered by start. Memory: that of the folds and of names. `progress` is called
// from time to time with the number of events so far.
[[nodiscard]] std::vector<EventFold> fold_stream(const EventValues& values, const EventStream& events, EventColumn column, SortDirection direction,
                                                 const std::function<void(std::uint64_t)>& progress = {}, const std::stop_token& stop = {});

}  // namespace lanescope
