// Adds events, and columns of other lanes, to a pixel column. Internal to timeline/core/pixels.
#pragma once

#include <algorithm>

#include "timeline/core/pixels/colors.h"
#include "timeline/core/pixels/level_pixels.h"

namespace lanescope::timeline {

// Weighted majority vote: a name that outweighs all others together wins.
inline void vote(Column& column, NameId name, Nanoseconds weight, TrackKind kind) {
  if (name == column.dominant && kind == column.kind) {
    column.weight += weight;
  } else if (weight > column.weight) {
    column.dominant = name;
    column.kind = kind;
    column.weight = weight - column.weight;
  } else {
    column.weight -= weight;
  }
}

template <typename Events>
void consider_longest(Column& column, const ContentLane& content, const Events& events, EventIndex index, Nanoseconds duration, NameId name) {
  if (duration <= column.longest_duration) return;
  column.longest = content.ref(index);
  column.longest_duration = duration;
  column.longest_name = name;
  column.longest_detail = has_own_colors(content.kind) || content.projected ? events.detail(index) : 0;
  if (column.weight == 0 && duration == 0) {  // instants have no duration, so none outweighs another
    column.dominant = column.longest_name;
    column.kind = content.kind;
  }
}

template <typename Events>
void consider_longest(Column& column, const ContentLane& content, const Events& events, EventIndex index, Nanoseconds duration) {
  if (duration > column.longest_duration) consider_longest(column, content, events, index, duration, events.name(index));
}

// The name of the longest event of a summary. Lanes that are read in parts may know it without reading the event.
template <typename Events>
NameId name_of_longest(const Events& events, const LaneSummary& summary) {
  if constexpr (requires { events.name_of_longest(summary); })
    return events.name_of_longest(summary);
  else
    return events.name(summary.longest);
}

// Adds the events that start in [first, last), and the one before, to the column [begin, end).
template <typename Events>
void add_events(Column& column, const ContentLane& content, const Events& lane, TimeRange window, EventIndex first, EventIndex last, Nanoseconds busy) {
  column.total += busy;
  if (first > 0 && lane.end(first - 1) > window.begin) {
    ++column.carried;
    consider_longest(column, content, lane, first - 1, lane.duration(first - 1));
    vote(column, lane.name(first - 1), std::min(lane.end(first - 1), window.end) - window.begin, content.kind);
  }
  if (first == last) return;
  column.count += last - first;
  // The last event is the only one that may continue beyond the column.
  const EventIndex within = lane.end(last - 1) > window.end ? last - 1 : last;
  if (first < within) {
    const LaneSummary summary = lane.summarize(first, within);
    if (summary.longest_duration > column.longest_duration)
      consider_longest(column, content, lane, summary.longest, summary.longest_duration, name_of_longest(lane, summary));
    vote(column, summary.dominant, summary.weight, content.kind);
  }
  if (within == last) return;
  consider_longest(column, content, lane, last - 1, lane.duration(last - 1));
  vote(column, lane.name(last - 1), window.end - lane.start(last - 1), content.kind);
}

// Adds the same column of another lane.
inline void merge(Column& column, const Column& other) {
  if (!other.longest.valid()) return;
  column.total += other.total;
  column.count += other.count;
  column.carried += other.carried;
  const bool first = !column.longest.valid();
  if (other.longest_duration > column.longest_duration) {
    column.longest = other.longest;
    column.longest_duration = other.longest_duration;
    column.longest_name = other.longest_name;
    column.longest_detail = other.longest_detail;
  }
  if (first) {
    column.dominant = other.dominant;
    column.kind = other.kind;
    column.weight = other.weight;
  } else {
    vote(column, other.dominant, other.weight, other.kind);
  }
}

}  // namespace lanescope::timeline
