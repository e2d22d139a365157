// A coarse view of a compacted file, from its index: it is drawn until the events are there. Internal to model/trace.
#pragma once

#include <memory>

#include "model/file/trace_file.h"
#include "model/trace/trace.h"

namespace lanescope {

// A trace with one event for each 1,024 of the file's events: it starts with the first of them, lasts as long as all together, and has the name that
// holds most of their time. Segments with fewer events are decoded. Provenance::outline_only is set. Returns null if the file is not compacted or has
// no sound index, unpacks to more than allowed (limits.h), or has too few events to be worth it (outline.h). O(index).
[[nodiscard]] std::shared_ptr<const Trace> outline_of_heads(const TraceFileReader& file);

}  // namespace lanescope
