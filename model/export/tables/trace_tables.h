// Passes the tables of docs/tables.md one after another to a writer. Internal to model/export.
#pragma once

#include "model/export/table_export.h"
#include "model/trace/trace.h"
#include "table_target.h"

namespace lanescope::exporters {

// Ends at the first table that can't be written. O(events · log lanes).
Result<void> write_tables(const Trace& trace, const TableOptions& options, TableTarget& target);

}  // namespace lanescope::exporters
