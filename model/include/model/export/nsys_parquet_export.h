// Writes a trace as Parquet files with the tables, columns and numbers of Nsight Systems' SQLite exports, for tools that read them.
#pragma once

#include <filesystem>

#include "model/export/nsys_sqlite_export.h"

namespace lanescope {

// Writes folder/TABLE.parquet for each table that export_nsys_sqlite() makes, in the way of export_parquet(). Rows are in the order of that export; integers
// have 64 bits. Fails with one sentence. O(events). During the export the folder also contains the tables as SQLite.
Result<void> export_nsys_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const NsysSqliteOptions& options = {});

}  // namespace lanescope
