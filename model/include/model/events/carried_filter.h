// A filter of one trace as it is meant in another one that has the same events: a later state of it, one with another run beside it, or the same
// runs swapped. Ids of threads and streams may be others there, and so may texts of columns, which say more where several things have one name.
#pragma once

#include <functional>
#include <optional>

#include "model/events/event_query.h"
#include "model/trace/trace.h"

namespace lanescope {

// Where a track of one trace is in another; none where it is not there.
using TrackPlace = std::function<std::optional<TrackId>(TrackId)>;

// Of states of one trace: the track of the same key, of the same one of compared runs. Both traces must outlive it. O(tracks · log tracks), then
// O(log tracks) each.
[[nodiscard]] TrackPlace same_track(const Trace& from, const Trace& to);
// Of two runs that are compared and swap their places; `from` may be without the second. Both traces must outlive it. O(1). Requires: `to` has two parts.
[[nodiscard]] TrackPlace swapped_track(const Trace& from, const Trace& to);

// What names something that is not in `to` is left out of it: nothing would pass. O(tracks · log tracks) where the filter names threads, streams or
// the like, else O(1).
[[nodiscard]] EventFilter carried_filter(const EventFilter& filter, const Trace& from, const Trace& to, const TrackPlace& place);

}  // namespace lanescope
