// Opens .trace files as traces.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope {

// Called at once with the file's outline if it has one (Provenance::outline_only is set then). Afterwards it is called between chunks with the fraction
// done (0 to 1), and, from time to time if there is no outline, with the trace so far (otherwise null). Returns whether to go on; a load that is told
// to stop returns what has been read.
//
// For a compacted file whose events stay in the file, it is called at once with the trace, but without totals of memory, if it has any, and without values of
// counters, if its index does not know them (format before 1.7). They come with the whole trace, whose lanes are the same.
enum class LoadStep { kContinue, kCancel };
using LoadProgress = std::function<LoadStep(double fraction, std::shared_ptr<const Trace> partial)>;

// Where the events of an opened trace are: all in memory, or, for a compacted file, in the file until they are needed (demanded_segments.h). A caller
// that reads all events many times uses kInMemoryWhereTheyFit: they are in memory if the cache's budget has room for all. Other files always have their
// events in memory, and so do compacted files that are cut or damaged.
enum class EventPlace { kInMemory, kInFile, kInMemoryWhereTheyFit };

// Reads a .trace file that may be finished, cut at any byte, or still growing (then what there is now). Fails with one sentence, as
// TraceFileReader::open.
Result<std::shared_ptr<const Trace>> load_trace(const std::filesystem::path& path, const LoadProgress& progress = {}, EventPlace place = EventPlace::kInMemory);

// Makes the allocator keep up to 256 MB of memory that decoding frees, for the next decoding, instead of giving it back to the system and asking for it
// again with each chunk, which takes a third of the time of opening a file. For the main() of programs that open large files: it applies to the whole
// process.
void keep_memory_for_decoding() noexcept;

}  // namespace lanescope
