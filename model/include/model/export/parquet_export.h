// Writes a trace as Parquet files: a table for each kind of event, as docs/tables.md lists them.
#pragma once

#include <filesystem>

#include "model/export/selection.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/trace.h"

namespace lanescope {

struct ParquetOptions {
  ExportSelection selection;
  EmptyTables empty_tables = EmptyTables::kOmit;
};

// Writes folder/TABLE.parquet for each table, makes the folder where there is none, and removes tables of an earlier export that this trace
// does not have. Each file takes its place when it is whole; with Overwrite::kRefuse, a folder that holds anything is refused. Rows are sorted
// by start. Footers say where the recording comes from and what it lacks (keys "lanescope.*"). Fails with one sentence; what it made is
// removed then. O(events · log lanes); memory: about 64 MB, and 8 bytes a name.
Result<void> export_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const ParquetOptions& options = {});

}  // namespace lanescope
