// Opens every kind of trace file that Lanescope reads. The content decides, not the file's name.
//
// Known formats that can't be read (for example .nsys-rep) are refused with the command that converts them.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Reads a trace file of any kind. Fails with one sentence that says what the file is, or isn't, and what to do. Events of foreign files are always in memory,
// whatever `place` is.
[[nodiscard]] Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path, const LoadProgress& progress = {},
                                                              EventPlace place = EventPlace::kInMemory);

// The files that make up one trace: each folder in `paths` is replaced by its .trace files, sorted by name. Fails with one sentence if a folder has none or
// can't be read.
[[nodiscard]] Result<std::vector<std::filesystem::path>> trace_files(std::span<const std::filesystem::path> paths);

// Opens several files as one trace (combine_traces). Each part is named by the rank of its processes and the name of its file; parts are sorted by rank if all
// have one. Clocks are aligned (align_clocks); diagnostics of the trace describe how. A single file is read as open_trace() does. Progress is that of all
// files, without partial traces; a cancelled call fails. Requires: at least one path, and no path of a folder.
//
// If the clocks may differ and all events stay in files, `progress` first receives the whole trace, before the clocks are compared by events. Until then they
// are aligned by the time of day or by first events. With kInMemoryWhereTheyFit, events fit if they are in compacted files and together take at most a quarter
// of the cache's budget. `progress` then receives the whole trace, with its events in the files, before they are read into memory. While clocks are aligned,
// another thread calls `progress` with 1 and no trace; two threads never call it at once.
//
// Files with the same recording (for example a file and its compacted form, or a part of it) count once: the one that has most of the recording is read. With
// kIsLeftOut, files that can't be read are left out if another file can be read; the trace's condition contains their names and the reasons. The trace's
// diagnostics contain a sentence for each file that is left out for either reason. Sentences about files of the same recording are also appended to
// `same_recording`.
enum class Unreadable { kFails, kIsLeftOut };
[[nodiscard]] Result<std::shared_ptr<const Trace>> open_traces(std::span<const std::filesystem::path> paths, EventPlace place = EventPlace::kInMemory,
                                                               const LoadProgress& progress = {}, Unreadable unreadable = Unreadable::kFails,
                                                               std::vector<std::string>* same_recording = nullptr);

// True if the file of `whole` contains everything of the file of `part`, as far as that is known without comparing events: both began in the same nanosecond of
// the same clocks, and `whole` has all processes, rows and time of `part`, and was saved for that time. So a copy, a compacted form and a saved part are of the
// same recording. So is a file in the format of another tool that Lanescope wrote of it, which is recognised by time of day, host, command, processes and
// numbers of events. Of two files of another tool, one is a copy of the other if time, rows and numbers of events are equal. O(processes + rows).
[[nodiscard]] bool is_of_same_recording(const Trace& part, const Trace& whole);

// Number of files that were left out of a trace because others contain the same recording. O(diagnostics).
[[nodiscard]] std::size_t count_left_out_as_same(const Trace& trace);

// How to treat a file that can't be read: kIsLeftOut if a folder was named, kFails if only files were named.
[[nodiscard]] Unreadable unreadable_of(std::span<const std::filesystem::path> named);

}  // namespace lanescope
