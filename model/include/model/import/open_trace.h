// Opens every kind of trace file that Lanescope reads. The content decides, not the file's name.
//
// Formats that are known but can't be read (.nsys-rep and the like) are refused with the command that converts them.
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

// Reads a trace file of any kind. Fails with one sentence that says what the file is, or isn't, and what to do. Events of files that are not
// Lanescope's are in memory wherever they are asked to be.
[[nodiscard]] Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path, const LoadProgress& progress = {},
                                                              EventPlace place = EventPlace::kInMemory);

// The files that make one trace: each folder among `paths` stands for the .trace files in it, by name. Fails with one sentence where a folder
// has none, or can't be read.
[[nodiscard]] Result<std::vector<std::filesystem::path>> trace_files(std::span<const std::filesystem::path> paths);

// Several files as one trace (combine_traces), each part under the rank of its processes and the name of its file, by rank where all have one.
// Clocks are set to each other (align_clocks), which diagnostics of the trace tell. One file alone is what open_trace() gives. Progress is that
// of all files, without parts of them; cancelled, it fails. Where clocks are not known to be one, and all events stay in files, it is called with the whole
// trace before events are asked how clocks stand to each other: those are set by the time of day, or first events, until then. Where events are to be in memory
// if they fit, they are of compacted files that take a quarter of the cache's budget together; progress is called with the whole trace before, whose events are
// in the files. Requires: at least one path, none of a folder. While clocks are set, progress is asked by a thread of its own, with 1 and no trace; never by
// two threads at once.
//
// Files that hold the same recording (one and its compacted form, or a part of it) count once: the one that has most of it is read. Where that shall
// be so, files that can't be read are left out while another can; what they are called and why is then in the trace's condition. A sentence for each
// file that is left out, for either reason, is among the trace's diagnostics; those of the same recording are appended to `same_recording`, too.
enum class Unreadable { kFails, kIsLeftOut };
[[nodiscard]] Result<std::shared_ptr<const Trace>> open_traces(std::span<const std::filesystem::path> paths, EventPlace place = EventPlace::kInMemory,
                                                               const LoadProgress& progress = {}, Unreadable unreadable = Unreadable::kFails,
                                                               std::vector<std::string>* same_recording = nullptr);

// How many files were left out of a trace because others hold the same recording. O(diagnostics).
[[nodiscard]] std::size_t count_left_out_as_same(const Trace& trace);

// What is to become of a file that can't be read: who names a folder wants what is in it, who names files wants each.
[[nodiscard]] Unreadable unreadable_of(std::span<const std::filesystem::path> named);

}  // namespace lanescope
