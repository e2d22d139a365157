// Traces from which a command answers, and what it must say about them besides the answer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "model/file/result.h"
#include "model/trace/load.h"

namespace lanescope::cli {

// Opens several files, or folders with one file for each rank, as one trace. Files of a folder that can't be read, or that hold the same recording as another
// file, are left out; the latter are reported on standard error at once. Files that are made from here on are as private as these files.
//
// Values of counters take memory in proportion to a recording's samples. A command that does not use them leaves them out, for one compacted file whose
// events stay in the file.
enum class CounterValues { kRead, kLeftOut };
Result<std::shared_ptr<const Trace>> open_ranks(std::span<const std::filesystem::path> files, EventPlace place, CounterValues values = CounterValues::kRead);

// Opens the same files again, with all values in memory, after values of counters of `damaged` could not be read in their file. The new trace has the values of
// all frames that can be read and says how many can't, so what `damaged` lacks is not told at the command's end.
Result<std::shared_ptr<const Trace>> open_again_in_memory(const Trace& damaged, std::span<const std::filesystem::path> files);

// Says on standard error, in a line behind `name`, what the trace lacks of what was recorded (lacks_text), and what of other tools' files is left out of it
// (left_out_text). Nothing where nothing is known to be missing.
void say_losses(const Trace& trace, const std::string& name);

// The inputs of the command line in few words: "run.trace", "r0.trace and 63 more".
[[nodiscard]] std::string name_of(std::span<const std::filesystem::path> files);

}  // namespace lanescope::cli
