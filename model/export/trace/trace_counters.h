// Counters as frames of a .trace file. Internal to model/export.
#pragma once

#include <functional>
#include <span>

#include "lanescope/trace.pb.h"
#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Definitions of the counters of a process, or with kNone of those without a process. Their ids are CounterId plus 1. `counters` contains all of them.
[[nodiscard]] proto::Resources counter_definitions(const Trace& trace, ProcessId process, std::span<const CounterId> counters);

// Writes their samples; counters that are read together share chunks. EmitCounterChunk receives a finished chunk and returns true to continue.
using EmitCounterChunk = std::function<bool(const proto::EventChunk& chunk)>;
bool write_counter_samples(const Trace& trace, std::span<const CounterId> counters, const ExportSelection& selection, const EmitCounterChunk& emit);

}  // namespace lanescope::exporters
