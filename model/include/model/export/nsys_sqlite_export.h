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
  // Regular expressions (ECMAScript) for whole names of tables; a table that matches one is written. All where there is none. The tables
  // that others refer to (StringIds, META_DATA_EXPORT, ENUM_...) are always written.
  std::vector<std::string> tables;
  EmptyTables empty_tables = EmptyTables::kOmit;
  Readers readers = Readers::kAsUsual;  // of the file
  // How many rows tables of call chains may have. Of more, each call is written once, in tables of Lanescope's own, and views of the tables' names say
  // the same call by call. None: one for each byte of the file that the trace is of (limits::chain_rows_of()).
  std::optional<std::uint64_t> most_chain_rows;
};

// Pids and thread ids that do not fit in Nsight Systems' 24 bits are replaced by free ones. Fails with one sentence when the file can't be
// written, and leaves nothing behind then. O(events).
Result<void> export_nsys_sqlite(const Trace& trace, const std::filesystem::path& path, Overwrite overwrite, const NsysSqliteOptions& options = {});

}  // namespace lanescope
