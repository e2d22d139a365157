// Opens .trace files as traces.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope {

// Called at once with the file's outline where it has one (Provenance::outline_only is set then), and afterwards between chunks with the
// fraction done (0 to 1) and, from time to time where there is no outline, what there is so far (else null). Returns whether to go on; a
// load that is not to go on ends with what has been read.
//
// Of a compacted file whose events stay there, called at once with the trace but for values of counters and totals of memory, where it has any:
// they come with the whole, whose lanes are the same.
enum class LoadStep { kContinue, kCancel };
using LoadProgress = std::function<LoadStep(double fraction, std::shared_ptr<const Trace> partial)>;

// Where the events of an opened trace are: all in memory, or, of a compacted file, in the file until they are needed (demanded_segments.h).
// Who asks for all of them many times has them in memory where the cache's budget has room for all. Other files have theirs in memory always,
// and so have compacted ones that are cut or damaged.
enum class EventPlace { kInMemory, kInFile, kInMemoryWhereTheyFit };

// Reads a .trace file that may be finished, cut at any byte, or still growing (what there is now). Fails with one sentence, as
// TraceFileReader::open.
Result<std::shared_ptr<const Trace>> load_trace(const std::filesystem::path& path, const LoadProgress& progress = {}, EventPlace place = EventPlace::kInMemory);

// Has the allocator keep what decoding frees for what is decoded next, up to 256 MB, instead of giving it back to the system and asking for
// it again with each chunk, which takes a third of the time of opening a file. For the main() of programs that open large files: it holds
// for the whole process.
void keep_memory_for_decoding() noexcept;

}  // namespace lanescope
