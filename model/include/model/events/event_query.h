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
  std::string text;                 // what the name matches (name_matches), or that of a function in a sample's call chain
  std::optional<TimeRange> window;  // events that overlap it, or start in it
  Nanoseconds minimum_duration = 0;
  std::optional<EventKind> kind;
  std::optional<ThreadId> thread;  // what the thread did itself, not the GPU work that it launched
  std::optional<StreamName> stream;
  std::vector<ColumnValue> values = {};  // what columns say of the event
  bool operator==(const EventFilter&) const = default;
};

// The events of these lanes that the filter lets through: lane by lane, each by start. The text is looked up among the names once, so the
// cost is O(names + events in the window), and O(lanes · log n) more. Returns early with less when asked to stop.
//
// Where there are more than `most`, returns early with at least one more than that.
[[nodiscard]] std::vector<EventRef> gather_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop = {},
                                                  std::size_t most = std::numeric_limits<std::size_t>::max());

// The same by start; of those that start at once, as above. O(events), and memory for little more than what it returns: they are sorted a
// million at a time. Nothing when asked to stop; at least one more than `most` where there are more.
[[nodiscard]] std::vector<EventRef> gather_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, std::stop_token stop = {},
                                                    std::size_t most = std::numeric_limits<std::size_t>::max());

// Takes some events, and says whether to go on.
using EventVisitor = std::function<bool(std::span<const EventRef>)>;

// Calls visit() with the same, about a million at a time, for as long as it says to go on. When asked to stop, ends early.
void visit_by_start(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, const EventVisitor& visit, std::stop_token stop = {});

// Events by start that are gone through anew for each who asks, rather than kept.
struct EventStream {
  std::uint64_t most = 0;  // there are no more than that
  std::function<void(const EventVisitor&, const std::stop_token&)> visit;
  // The first so many of them by duration, the longest first, where little has to be read for that; else none. May be empty.
  std::function<std::optional<std::vector<EventRef>>(std::size_t count, const std::stop_token&)> longest;
  // The same by the gap in front of them.
  std::function<std::optional<std::vector<EventRef>>(const EventValues&, std::size_t count, const std::stop_token&)> after_longest_gaps;
};
// Those of visit_by_start(), longest_events() and events_after_longest_gaps(). The trace must outlive it.
[[nodiscard]] EventStream stream_by_start(const Trace& trace, std::vector<LaneId> lanes, EventFilter filter);
// The first `count` events of sort_events() by duration, descending. Heads of segments say how long their events are at most, so that only those
// are decoded which have one of them; none where these are very many, and when asked to stop. Requires: `lanes` ascend.
[[nodiscard]] std::optional<std::vector<EventRef>> longest_events(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter,
                                                                  std::size_t count, const std::stop_token& stop = {});
// The first `count` events of sort_events() by the gap before them, descending, of a trace whose events are read when they are needed. Heads of
// segments say how long each lane rests at most, so that only those are decoded in which a gap can be long enough; none where these are very
// many, where there are fewer events that have a gap, when all events are in memory, and when asked to stop. Requires: `lanes` ascend and are
// of the scope.
[[nodiscard]] std::optional<std::vector<EventRef>> events_after_longest_gaps(const EventValues& values, std::span<const LaneId> lanes,
                                                                             const EventFilter& filter, std::size_t count, const std::stop_token& stop = {});
// Of the events, those that are wanted.
[[nodiscard]] EventStream kept_of(EventStream events, std::function<bool(EventRef)> wanted);

// The nearest event that the filter, whose window is not looked at, lets through: behind a place in the order of gather_by_start(), or before
// it. Where there is none on that side, the first or last of all. None where there is none at all, and when asked to stop. O(events in
// between), and little memory.
struct EventPosition {
  Nanoseconds start = 0;
  EventRef event;
};
enum class SearchDirection : std::uint8_t { kForward, kBackward };
[[nodiscard]] std::optional<EventRef> find_event(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter, EventPosition from,
                                                 SearchDirection direction, const std::stop_token& stop = {});

enum class SortDirection : std::uint8_t { kAscending, kDescending };

// The same events ordered by a column: text as people sort it (letter case ignored), grids and blocks by their size. Events that have no
// value in the column come last in both directions; equal ones keep their order. O(events): a radix sort of packed keys. Returns an empty
// order when asked to stop.
[[nodiscard]] std::vector<EventRef> sort_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                                std::stop_token stop = {});

// The first `count` of sort_events() without sorting the rest.
[[nodiscard]] std::vector<EventRef> first_events(const EventValues& values, std::span<const EventRef> events, EventColumn column, SortDirection direction,
                                                 std::size_t count, std::stop_token stop = {});

// Where an event stands in an order; none when it does not. O(events).
[[nodiscard]] std::optional<std::size_t> position_of(std::span<const EventRef> order, EventRef event) noexcept;

}  // namespace lanescope
