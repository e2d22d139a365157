// Which events a table shows, and in which order.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/events/event_column.h"
#include "model/events/event_values.h"

namespace lanescope {

struct StreamName {
  ProcessId process = kNone;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  auto operator<=>(const StreamName&) const = default;
};

// Every condition that is set must hold.
struct EventFilter {
  std::string text;                 // what the name matches (name_matches), or that of a function in a sample's call chain
  std::optional<TimeRange> window;  // events that overlap it, or start in it
  Nanoseconds minimum_duration = 0;
  std::optional<EventKind> kind;
  std::optional<ThreadId> thread;  // what the thread did itself, not the GPU work that it launched
  std::optional<StreamName> stream;
  bool operator==(const EventFilter&) const = default;
};

// The events of these lanes that the filter lets through: lane by lane, each by start. The text is looked up among the names once, so the
// cost is O(names + events in the window), and O(lanes · log n) more. Returns early with less when asked to stop.
//
// Where there are more than `most`, returns early with at least one more than that.
[[nodiscard]] std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter,
                                                  std::stop_token stop = {}, std::size_t most = std::numeric_limits<std::size_t>::max());

// The same by start; of those that start at once, as above. O(events), and memory for little more than what it returns: they are sorted a
// million at a time. Nothing when asked to stop; at least one more than `most` where there are more.
[[nodiscard]] std::vector<EventRef> gather_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter,
                                                    std::stop_token stop = {}, std::size_t most = std::numeric_limits<std::size_t>::max());

// Calls visit() with the same, about a million at a time, for as long as it says to go on. When asked to stop, ends early.
void visit_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter,
                    const std::function<bool(std::span<const EventRef>)>& visit, std::stop_token stop = {});

enum class SortDirection : std::uint8_t { kAscending, kDescending };

// The same events ordered by a column: text as people sort it (letter case ignored), grids and blocks by their size. Events that have no
// value in the column come last in both directions; equal ones keep their order. O(events): a radix sort of packed keys. Returns an empty
// order when asked to stop.
[[nodiscard]] std::vector<EventRef> sort_events(const EventValues& values, std::span<const EventRef> events, EventColumn column,
                                                SortDirection direction, std::stop_token stop = {});

// The first `count` of sort_events() without sorting the rest.
[[nodiscard]] std::vector<EventRef> first_events(const EventValues& values, std::span<const EventRef> events, EventColumn column,
                                                 SortDirection direction, std::size_t count, std::stop_token stop = {});

// Where an event stands in an order; none when it does not. O(events).
[[nodiscard]] std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept;

}  // namespace lanescope
