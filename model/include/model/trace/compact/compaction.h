// Compacts recordings: writes a .trace file whose events are ordered by lane, in frames that can each be decoded without the others, with an index that
// says what is in each (docs/file-format.md, Compacted files; docs/adr/0015-finished-recordings-are-compacted.md).
//
// The new file lies beside its destination until it is whole and on the disk. If the process ends at any moment, the recording, which may be at the
// destination itself, is there either as it was or compacted. A process that is killed may leave a part of the new file beside it (.partial).
//
// Threads: each call may run on any one thread; it uses all cores.
#pragma once

#include <filesystem>
#include <functional>

#include "model/file/new_file.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "model/trace/load.h"

namespace lanescope {

// Called from time to time with the fraction that is done, 0 to 1. Returns whether to go on.
using CompactionProgress = std::function<LoadStep(double fraction)>;

struct CompactionOptions {
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;  // for events that are being sorted; tables of names and details need more on top
  Readers readers = Readers::kAsUsual;                    // of the new file
};

struct Compacted {
  std::uint64_t events = 0;
  std::uint64_t sorted_on_disk = 0;  // of these, the events that went through the temporary file of sorted runs, some perhaps more than once
  FileCondition source;              // what was wrong with the recording; the new file says so, too
};

// Compacts a .trace file of any form. `destination` may be the recording itself, with Overwrite::kAllow. Fails with one sentence if the recording can't
// be read, is being written, is of a newer version of the format, or `progress` says to end; if the new file can't be written; and if it would hold its
// events in so few bytes that readers would refuse it (limits.h). If it fails, the file at `destination` stays.
//
// While it runs it takes about three times the recording's size on the disk of `destination`. O(events · log(events / memory)).
[[nodiscard]] Result<Compacted> compact_trace_file(const std::filesystem::path& source, const std::filesystem::path& destination, Overwrite overwrite,
                                                   const CompactionProgress& progress = {}, const CompactionOptions& options = {});

// The form in which a .trace file has its events; kLog also if it has none. Fails as TraceFileReader::open(). O(frames); without an index, O(bytes up
// to the first events).
enum class FileForm { kLog, kCompacted };
[[nodiscard]] Result<FileForm> form_of(const std::filesystem::path& path);

}  // namespace lanescope
