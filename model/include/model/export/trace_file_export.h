// Writes a trace as a .trace file, for example after an import from another format or a damaged recording.
#pragma once

#include <filesystem>

#include "model/export/selection.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/trace.h"

namespace lanescope {

// The file loads as the same trace: events, lanes, details, names, processes, threads, GPUs, diagnostics. Fails with one sentence if the file can't be
// written; then nothing remains of it, and a file that it was to replace is unchanged. O(events).
Result<void> export_trace_file(const Trace& trace, const std::filesystem::path& path, Overwrite overwrite, const ExportSelection& selection = {},
                               FileForm form = FileForm::kLog, Readers readers = Readers::kAsUsual);

// Copies the undamaged frames of a .trace file unchanged into a new file with an index, to recover a damaged or truncated file. Returns what was wrong with
// the source.
Result<FileCondition> recover_trace_file(const std::filesystem::path& source, const std::filesystem::path& path, Overwrite overwrite);

}  // namespace lanescope
