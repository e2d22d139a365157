// A compacted file in little, from what its index says: what is drawn until its events are there. Internal to model/trace.
#pragma once

#include <memory>

#include "model/file/trace_file.h"
#include "model/trace/trace.h"

namespace lanescope {

// A trace with one event for each 1,024 of the file's: it begins with the first, takes as long as all together, and has the name that most of
// their time has. Segments of fewer events are decoded. Provenance::outline_only is set. Null where the file is not compacted or has no
// sound index, unpacks to more than it may (limits.h), or has fewer events than are worth it (outline.h). O(index).
[[nodiscard]] std::shared_ptr<const Trace> outline_of_heads(const TraceFileReader& file);

}  // namespace lanescope
