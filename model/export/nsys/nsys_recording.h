// Writes what was recorded, where and by what, in Nsight Systems' tables. Internal to model/export.
#pragma once

#include <optional>

#include "model/trace/trace.h"
#include "nsys_database.h"
#include "nsys_ids.h"

namespace lanescope::exporters {

// Writes GPUs, contexts and streams, processes and names of threads, diagnostics, the session's times, the part of the recording that is written,
// and the program that made the file.
void write_recording(const Trace& trace, const std::optional<SavedPart>& part, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings);

}  // namespace lanescope::exporters
