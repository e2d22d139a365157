// The files that a recording makes: their names, and that no two recordings take the same.
#pragma once

#include <sys/types.h>

#include <string>

#include "model/file/trace_file.h"

namespace lanescope::session {

std::string host_name();

// Creates the file that the pattern (output_name.h) names for a program with this pid; in a folder, where it is one, report%n. Fails with one
// sentence.
Result<TraceFileWriter> create_trace_file(const std::string& pattern, Overwrite overwrite, pid_t pid);

// A pattern under which several files fit: numbered where it is not yet.
[[nodiscard]] std::string numbered_pattern(const std::string& pattern);

}  // namespace lanescope::session
