// Lists of events in which those of one kind whose names differ in their counters only (name_family) stand together: one line that unfolds.
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
  std::vector<EventRef> events;  // all, in the order of the list; of a stream, the first by start alone
  std::uint64_t count = 0;       // one at least
  Nanoseconds start = 0;         // of the first by time
  Nanoseconds duration = 0;      // of all together
  std::uint64_t bytes = 0;       // the same
};

// The events of a list that is ordered by a column, in folds. Folds are ordered by what they have of that column (start, duration, bytes,
// family), else as the first event of each is. O(events + folds · log folds). Empty when asked to stop.
[[nodiscard]] std::vector<EventFold> fold_events(const EventValues& values, std::span<const EventRef> order, EventColumn column, SortDirection direction,
                                                 const std::stop_token& stop = {});

// Of events that are too many to be held; folds for whose column there is no sum are ordered by start. Memory: that of the folds and of names.
// `progress` is told now and then how many events were seen.
[[nodiscard]] std::vector<EventFold> fold_stream(const EventValues& values, const EventStream& events, EventColumn column, SortDirection direction,
                                                 const std::function<void(std::uint64_t)>& progress = {}, const std::stop_token& stop = {});

}  // namespace lanescope
