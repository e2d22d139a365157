// GPU metrics in Nsight Systems' tables. Internal to model/export.
#pragma once

#include "model/export/selection.h"
#include "model/trace/trace.h"
#include "nsys_database.h"

namespace lanescope::exporters {

// Writes GPU_METRICS and TARGET_INFO_GPU_METRICS: counters of GPUs that belong to no process. Values have the unit in brackets after the name; a type consists
// of one GPU's counters that are read together. Samples without a value have no row.
void write_gpu_metrics(const Trace& trace, const ExportSelection& selection, NsysDatabase& database);

}  // namespace lanescope::exporters
