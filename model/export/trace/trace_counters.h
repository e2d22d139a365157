// Counters as frames of a .trace file. Internal to model/export.
#pragma once

#include <functional>
#include <span>

#include "lanescope/trace.pb.h"
#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// The counters that were read of a process, or with kNone those of no process: their definitions, with ids that are their CounterId plus 1.
// `counters`: all of it.
[[nodiscard]] proto::Resources counter_definitions(const Trace& trace, ProcessId process, std::span<const CounterId> counters);

// Their samples, those that are read together in one chunk. Takes a finished chunk; returns whether to go on.
using EmitCounterChunk = std::function<bool(const proto::EventChunk& chunk)>;
bool write_counter_samples(const Trace& trace, std::span<const CounterId> counters, const ExportSelection& selection, const EmitCounterChunk& emit);

}  // namespace lanescope::exporters
