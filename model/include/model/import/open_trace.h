// Opens every kind of trace file that Lanescope reads. The content decides, not the file's name.
//
// Formats that are known but can't be read (.nsys-rep and the like) are refused with the command that converts them.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "model/file/result.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"

namespace lanescope {

// One kind of file that open_trace() reads, for file dialogs and help texts.
struct TraceFileFormat {
  std::string_view name;      // "Lanescope trace"
  std::string_view patterns;  // "*.trace"; several are separated by one space
};
[[nodiscard]] std::span<const TraceFileFormat> readable_trace_formats() noexcept;

// Reads a trace file of any kind. Fails with one sentence that says what the file is, or isn't, and what to do. Events of files that are not
// Lanescope's are in memory wherever they are asked to be.
[[nodiscard]] Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path, const LoadProgress& progress = {},
                                                              EventPlace place = EventPlace::kInMemory);

// Several files as one trace (combine_traces), each under the name of its file: by the time of day where all know theirs, else with their
// first events together. One file alone is what open_trace() gives. Requires: at least one path.
[[nodiscard]] Result<std::shared_ptr<const Trace>> open_traces(std::span<const std::filesystem::path> paths,
                                                               EventPlace place = EventPlace::kInMemory);

}  // namespace lanescope
