// Translates a filter of one trace to another trace with the same events: a later state of it, one with another run beside it, or the same runs swapped. Ids of
// threads and streams may differ there, and so may texts of columns, which are longer if several things have one name.
#pragma once

#include <functional>
#include <optional>

#include "model/events/event_query.h"
#include "model/trace/trace.h"

namespace lanescope {

// The place of a track of one trace in another; none if it is not there.
using TrackPlace = std::function<std::optional<TrackId>(TrackId)>;

// For states of one trace: the track with the same key, in the same one of compared runs. Both traces must outlive it. O(tracks · log tracks), then O(log
// tracks) for each call.
[[nodiscard]] TrackPlace same_track(const Trace& from, const Trace& to);
// For two compared runs that swap their places; `from` may lack the second run. Both traces must outlive it. O(1). Requires: `to` has two parts.
[[nodiscard]] TrackPlace swapped_track(const Trace& from, const Trace& to);

// Conditions that name something that is not in `to` are left out, because nothing would pass. O(tracks · log tracks) if the filter names threads, streams or
// similar things, else O(1).
[[nodiscard]] EventFilter carried_filter(const EventFilter& filter, const Trace& from, const Trace& to, const TrackPlace& place);

}  // namespace lanescope
