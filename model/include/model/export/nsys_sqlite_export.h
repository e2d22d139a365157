// Writes a trace as SQLite in the schema of Nsight Systems (3.20), which nsys' own reports and many other tools read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/export/selection.h"
#include "model/file/new_file.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/trace.h"

namespace lanescope {

struct NsysSqliteOptions {
  ExportSelection selection;
  // Regular expressions (ECMAScript) for whole names of tables; a table is written if it matches one of them. If empty, all tables are written. Tables that
  // others refer to (StringIds, META_DATA_EXPORT, ENUM_...) are always written.
  std::vector<std::string> tables;
  EmptyTables empty_tables = EmptyTables::kOmit;
  Readers readers = Readers::kAsUsual;  // of the file
  // Limit for rows in tables of call chains. Above it, each call is written once, in Lanescope's own tables, and views with the tables' names return the same
  // rows call by call. Without a value, the limit is one row for each byte of the trace's file (limits::chain_rows_of()).
  std::optional<std::uint64_t> most_chain_rows;
};

// Process and thread ids that do not fit in Nsight Systems' 24 bits are replaced by free ones. Fails with one sentence if the file can't be written, and then
// leaves nothing behind. O(events).
Result<void> export_nsys_sqlite(const Trace& trace, const std::filesystem::path& path, Overwrite overwrite, const NsysSqliteOptions& options = {});

}  // namespace lanescope
