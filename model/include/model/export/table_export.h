// Writes a trace as the tables of docs/tables.md, one for each kind of event: as Parquet files, or as an Arrow stream.
//
// Rows are sorted by start. The tables' metadata say where the recording comes from and what it lacks (keys "lanescope.*"). Each function fails with one
// sentence. A pattern that is invalid or matches no table is a usage error. O(events · log lanes).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/export/selection.h"
#include "model/export/text_export.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/trace.h"

namespace lanescope {

struct TableOptions {
  ExportSelection selection;
  std::vector<std::string> tables;  // regular expressions (ECMAScript) for whole names of tables; if empty, all tables
  EmptyTables empty_tables = EmptyTables::kOmit;
};

// Writes folder/TABLE.parquet for each table, creates the folder if necessary, and removes tables of an earlier export that are not written now. The files are
// moved into place when all are complete. With Overwrite::kRefuse, a folder that is not empty is refused. After a failure, the folder is as it was before.
// Memory: about 64 MB, and 8 bytes for each name.
Result<void> export_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const TableOptions& options = {});

// Writes an Arrow IPC stream for each table, one after another; the key "lanescope.table" of a schema contains the table's name. Texts are dictionaries; each
// record batch has its own. Memory: about 32 MB, and 8 bytes for each name.
Result<void> export_arrow(const Trace& trace, const TextConsumer& write, const TableOptions& options = {});

}  // namespace lanescope
