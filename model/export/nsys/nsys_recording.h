// What was recorded, where and by what, in Nsight Systems' tables. Internal to model/export.
#pragma once

#include "model/trace/trace.h"
#include "nsys_database.h"
#include "nsys_ids.h"

namespace lanescope::exporters {

// GPUs, contexts and streams, processes and names of threads, diagnostics, the session's times, and what made the file.
void write_recording(const Trace& trace, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings);

}  // namespace lanescope::exporters
