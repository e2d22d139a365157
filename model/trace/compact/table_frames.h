// Writes the tables that lane segments of a compacted file refer to. Internal to model/trace.
#pragma once

#include <functional>
#include <string>

#include "lanescope/trace.pb.h"
#include "model/file/result.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

using EmitPayload = std::function<Result<void>(proto::FrameType type, const std::string& payload)>;

// Calls `emit` with a frame of the processes and threads of the trace, so that readers number them as the trace does. O(threads).
[[nodiscard]] Result<void> write_threads(const Trace& trace, const EmitPayload& emit);
// Calls `emit` with the frames of all names, call stacks, details and tracks, in this order; ids are those of the trace. Stops if `emit` fails.
// Requires: `trace` is a snapshot of `builder`, to which nothing was added since. O(tables).
[[nodiscard]] Result<void> write_tables(const Trace& trace, const TraceBuilder& builder, const EmitPayload& emit);

}  // namespace lanescope
