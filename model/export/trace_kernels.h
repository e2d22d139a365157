// Packs what a trace knows of kernels beyond their times into frames. Internal to model/export.
#pragma once

#include <functional>

#include "lanescope/trace.pb.h"
#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Of one process, in the order in which a reader wants them. False where `emit` did not take one.
using EmitCode = std::function<bool(const proto::CodeObject&)>;
using EmitPcSamples = std::function<bool(const proto::PcSamples&)>;
[[nodiscard]] bool write_kernel_records(const Trace& trace, ProcessId process, const ExportSelection& selection, const EmitCode& emit_code,
                                        const EmitPcSamples& emit_samples);

}  // namespace lanescope::exporters
