// Reads SQLite files that Nsight Systems exported (`nsys export -t sqlite`), of every schema from 2020 to 2026.
//
// Tables and columns are looked up, never assumed: data that a file lacks stays unknown, and unknown tables are ignored. Times are as in the file: ns since
// the beginning of the recorded session.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "model/file/result.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// Names in META_DATA_CAPTURE that mark a file exported by Lanescope from a part of a recording (SavedPart): numbers of ns.
inline constexpr std::string_view kNsysPartBegin = "LANESCOPE_PART_BEGIN_NS", kNsysPartEnd = "LANESCOPE_PART_END_NS",
                                  kNsysPartLaunches = "LANESCOPE_PART_LAUNCHES_NS";

// The name there of the id of the process that was attached to (Provenance::attached_pid).
inline constexpr std::string_view kNsysAttachedPid = "LANESCOPE_ATTACHED_PID";

// Names there for the source of an exported trace that was not a recording of Lanescope (Provenance::format, producer).
inline constexpr std::string_view kNsysSourceFormat = "LANESCOPE_SOURCE_FORMAT", kNsysSourceProducer = "LANESCOPE_SOURCE_PRODUCER";

// True if this SQLite file has tables of Nsight Systems, or can't be read. In the second case import_nsys_sqlite() returns the reason.
[[nodiscard]] bool may_be_nsys_sqlite(const std::filesystem::path& path);

// Fails with one sentence if the file can't be read, is damaged, or is not an export of Nsight Systems. `progress` receives the fraction of rows that were
// read, never a partial trace. A cancelled import fails.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_nsys_sqlite(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
