// Writes a trace as the tables of docs/tables.md, one for each kind of event: as Parquet files, or as a stream of Arrow.
//
// Rows are sorted by start. The tables' metadata say where the recording comes from and what it lacks (keys "lanescope.*"). Each fails with one
// sentence; patterns that are none, or match no table, are errors of usage. O(events · log lanes).
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
  std::vector<std::string> tables;  // regular expressions (ECMAScript) for whole names of tables; all where there is none
  EmptyTables empty_tables = EmptyTables::kOmit;
};

// Writes folder/TABLE.parquet for each table, makes the folder where there is none, and removes tables of an earlier export that are not
// written now. The files take their places when all are whole; with Overwrite::kRefuse, a folder that holds anything is refused. Where it fails,
// the folder is as it was. Memory: about 64 MB, and 8 bytes a name.
Result<void> export_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const TableOptions& options = {});

// Writes an Arrow IPC stream for each table, one behind the other; the key "lanescope.table" of a schema says which it is. Texts are
// dictionaries, of which each record batch brings its own. Memory: about 32 MB, and 8 bytes a name.
Result<void> export_arrow(const Trace& trace, const TextConsumer& write, const TableOptions& options = {});

}  // namespace lanescope
