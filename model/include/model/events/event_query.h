// The events that a table shows, and their order.
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
#include "model/events/pivot_column.h"

namespace lanescope {

struct StreamName {
  ProcessId process = kNone;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  auto operator<=>(const StreamName&) const = default;
};

// Every condition that is set must hold.
struct EventFilter {
  std::string text;                 // text that the name matches (name_matches), or the name of a function in a sample's call chain
  std::optional<TimeRange> window;  // events that overlap it, or start in it
  Nanoseconds minimum_duration = 0;
  std::optional<EventKind> kind;
  std::optional<ThreadId> thread;  // what the thread itself did, not the GPU work that it launched
  std::optional<StreamName> stream;
  std::vector<ColumnValue> values = {};  // required values of columns
  bool operator==(const EventFilter&) const = default;
};

// The events of these lanes that pass the filter: lane by lane, each by start. The text is looked up among the names once, so the cost is O(names + events in
// the window), and O(lanes · log n). Returns early with fewer events if asked to stop.
//
// If there are more than `most`, returns early with at least `most` + 1 events.
[[nodiscard]] std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop = {},
                                                  std::size_t most = std::numeric_limits<std::size_t>::max());

// The same, ordered by start; events that start together, as above. O(events), and memory for little more than the result, because a million are sorted at a
// time. Returns nothing if asked to stop, and at least `most` + 1 events if there are more.
[[nodiscard]] std::vector<EventRef> gather_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop = {},
                                                    std::size_t most = std::numeric_limits<std::size_t>::max());

// Receives some events; returns true to go on.
using EventVisitor = std::function<bool(std::span<const EventRef>)>;

// Calls visit() with the same events, about a million at a time, until it returns false. Ends early if asked to stop.
void visit_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, const EventVisitor& visit, std::stop_token stop = {});

// Events by start that are read again for each caller instead of kept.
struct EventStream {
  std::uint64_t most = 0;  // upper bound of their number
  std::function<void(const EventVisitor&, const std::stop_token&)> visit;
  // The first `count` events by duration, longest first, if little has to be read for that; else none. May be empty.
  std::function<std::optional<std::vector<EventRef>>(std::size_t count, const std::stop_token&)> longest;
  // The same by the gap before them.
  std::function<std::optional<std::vector<EventRef>>(const EventValues&, std::size_t count, const std::stop_token&)> after_longest_gaps;
};
// Uses visit_by_start(), longest_events() and events_after_longest_gaps(). The trace must outlive it.
[[nodiscard]] EventStream stream_by_start(const Trace& trace, std::vector<LaneId> lanes, EventFilter filter);
// The first `count` events of sort_events() by duration, descending. Heads of segments bound the durations of their events, so only segments that may have one
// of these events are decoded. None if these are very many, and if asked to stop. Requires: `lanes` ascend.
[[nodiscard]] std::optional<std::vector<EventRef>> longest_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter,
                                                                  std::size_t count, const std::stop_token& stop = {});
// The first `count` events of sort_events() by the gap before them, descending, for a trace whose events are read when they are needed. Heads of segments bound
// the idle times of their lane, so only segments in which a gap may be long enough are decoded. None if these are very many, if fewer events have a gap, if all
// events are in memory, and if asked to stop. Requires: `lanes` ascend and are of the scope.
[[nodiscard]] std::optional<std::vector<EventRef>> events_after_longest_gaps(const EventValues& values, std::span<const LaneId> lanes,
                                                                             const EventFilter& filter, std::size_t count, const std::stop_token& stop = {});
// The events for which `wanted` returns true.
[[nodiscard]] EventStream kept_of(EventStream events, std::function<bool(EventRef)> wanted);

// The nearest event that passes the filter, whose window is ignored: after a place in the order of gather_by_start(), or before it. If there is none on that
// side, returns the first or last of all; none if no event passes, and if asked to stop. O(events in between), and little memory.
struct EventPosition {
  Nanoseconds start = 0;
  EventRef event;
};
enum class SearchDirection : std::uint8_t { kForward, kBackward };
[[nodiscard]] std::optional<EventRef> find_event(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, EventPosition from,
                                                 SearchDirection direction, const std::stop_token& stop = {});

enum class SortDirection : std::uint8_t { kAscending, kDescending };

// The same events ordered by a column: text alphabetically (ignoring letter case), grids and blocks by their size. Events without a value in the column come
// last in both directions; equal events keep their order. O(events): a radix sort of packed keys. Returns an empty order if asked to stop.
[[nodiscard]] std::vector<EventRef> sort_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                                std::stop_token stop = {});

// The first `count` events of sort_events(), without sorting the rest.
[[nodiscard]] std::vector<EventRef> first_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                                 std::size_t count, std::stop_token stop = {});

// The position of an event in an order; none if it is not in it. O(events).
[[nodiscard]] std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept;
// Where an event stands among those that gather_by_start() gave; none when it does not. O(log events).
[[nodiscard]] std::optional<std::size_t> position_by_start(const Trace& trace, std::span<const EventRef> events, EventRef event);
// Where one of the events stands in what sort_events() made of them, or in the first of these; none when it does not. O(log events) values of the column, but
// O(events) where values are alike that are not sorted as they read.
[[nodiscard]] std::optional<std::size_t> position_in_order(const EventValues& values, std::span<const EventRef> order, EventRef event, EventColumn column,
                                                           SortDirection direction);

}  // namespace lanescope
