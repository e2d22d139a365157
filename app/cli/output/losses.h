// Traces from which a command answers, and what it must say of them beside the answer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "model/file/result.h"
#include "model/trace/load.h"

namespace lanescope::cli {

// Several files, or folders with one for each rank, as one trace. Files of a folder that can't be read, or hold the same recording as another, are
// left out; of the latter, standard error is told at once. What is made from here on is as private as they are.
Result<std::shared_ptr<const Trace>> open_ranks(std::span<const std::filesystem::path> files, EventPlace place);

// Says on standard error, in a line behind `name`, what the trace lacks of what was recorded (losses_text), and what of other tools' files is left out of it
// (left_out_text). Nothing where nothing is known to be missing.
void say_losses(const Trace& trace, const std::string& name);

// What was named on the command line, in few words: "run.trace", "r0.trace and 63 more".
[[nodiscard]] std::string name_of(std::span<const std::filesystem::path> files);

}  // namespace lanescope::cli
