// Calls of MPI in Nsight Systems' tables. Internal to model/export.
#pragma once

#include "model/export/selection.h"
#include "model/trace/trace.h"
#include "nsys_database.h"
#include "nsys_ids.h"

namespace lanescope::exporters {

// Writes MPI_P2P_EVENTS, MPI_COLLECTIVES_EVENTS, MPI_START_WAIT_EVENTS, MPI_OTHER_EVENTS and MPI_RANKS. NVTX_EVENTS also contains the calls, with data for
// which these tables have no columns.
void write_mpi(const Trace& trace, const ExportSelection& selection, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings);

}  // namespace lanescope::exporters
