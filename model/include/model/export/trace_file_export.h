// Writes a trace as a .trace file: what was imported from another format, or what is left of a damaged recording.
#pragma once

#include <filesystem>

#include "model/export/selection.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/trace.h"

namespace lanescope {

// The file loads as the same trace: events, lanes, details, names, processes, threads, GPUs, diagnostics. Fails with one sentence when
// the file can't be written; nothing is left of it then, and a file that it was to replace stays. O(events).
Result<void> export_trace_file(const Trace& trace, const std::filesystem::path& path, Overwrite overwrite, const ExportSelection& selection = {},
                               FileForm form = FileForm::kLog, Readers readers = Readers::kAsUsual);

// Copies the sound frames of a .trace file as they are into a new file with an index: the way to recover a damaged or cut one. Returns
// what was wrong with the source.
Result<FileCondition> recover_trace_file(const std::filesystem::path& source, const std::filesystem::path& path, Overwrite overwrite);

}  // namespace lanescope
