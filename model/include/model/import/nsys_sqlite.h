// Reads SQLite files that Nsight Systems exported (`nsys export -t sqlite`), of every schema from 2020 to 2026.
//
// Tables and columns are looked up, never assumed: what a file does not have stays unknown, tables that are not known are ignored.
// Times are as in the file: ns since the beginning of the recorded session.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "model/file/result.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// Names in META_DATA_CAPTURE under which a file that Lanescope exported of a part of a recording says so (SavedPart): numbers of ns.
inline constexpr std::string_view kNsysPartBegin = "LANESCOPE_PART_BEGIN_NS", kNsysPartEnd = "LANESCOPE_PART_END_NS",
                                  kNsysPartLaunches = "LANESCOPE_PART_LAUNCHES_NS";

// Names there of what it was read from, where that was no recording of Lanescope (Provenance::format, producer).
inline constexpr std::string_view kNsysSourceFormat = "LANESCOPE_SOURCE_FORMAT", kNsysSourceProducer = "LANESCOPE_SOURCE_PRODUCER";

// Whether this SQLite file has tables of Nsight Systems, or can't be read, so that nobody knows: import_nsys_sqlite() then says why.
[[nodiscard]] bool may_be_nsys_sqlite(const std::filesystem::path& path);

// Fails with one sentence when the file can't be read, is damaged, or is not an export of Nsight Systems. `progress` is told the fraction
// of rows read, never a partial trace; a cancelled import fails.
[[nodiscard]] Result<std::shared_ptr<const Trace>> import_nsys_sqlite(const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
