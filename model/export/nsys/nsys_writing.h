// Nsight's tables as rows of SQLite, for exports that are made from them. Internal to model/export.
#pragma once

#include <filesystem>

#include "model/export/nsys_sqlite_export.h"
#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Writes the tables into an empty file. `shown` is the name in error texts; it may be a file made from this one. Fails like export_nsys_sqlite(); the file is
// then useless.
Result<void> write_nsys_database(const Trace& trace, const std::filesystem::path& place, const std::filesystem::path& shown, const NsysSqliteOptions& options);

}  // namespace lanescope::exporters
