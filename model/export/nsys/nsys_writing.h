// Nsight's tables as rows of SQLite, for exports that are made of them. Internal to model/export.
#pragma once

#include <filesystem>

#include "model/export/nsys_sqlite_export.h"
#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Writes them into an empty file. `shown`: what errors call it, which may be made of it. Fails as export_nsys_sqlite() does; what was written then is of no
// use.
Result<void> write_nsys_database(const Trace& trace, const std::filesystem::path& place, const std::filesystem::path& shown, const NsysSqliteOptions& options);

}  // namespace lanescope::exporters
