// The files that a recording makes: their names, and that no two recordings take the same.
#pragma once

#include <sys/types.h>

#include <string>

#include "collector/cpu/cpu_settings.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

std::string host_name();

struct CreatedFile {
  TraceFileWriter file;
  std::string note;  // one sentence where it has another name than was asked for; else empty
};

// Creates the file that the pattern (output_name.h) names for a program with this pid; in a folder, where it is one, report%n. Where
// another recording is writing the file that may be replaced, as where mpirun starts several, the name gets a number. Fails with one
// sentence.
Result<CreatedFile> create_trace_file(const std::string& pattern, Overwrite overwrite, Readers readers, pid_t pid);

// A recording that shows what programs of other users do is for nobody else to read. `user`: of the program that is recorded.
[[nodiscard]] Readers readers_of(const cpu::CpuSettings& threads, uid_t user);

// A pattern under which several files fit: numbered where it is not yet.
[[nodiscard]] std::string numbered_pattern(const std::string& pattern);

}  // namespace lanescope::session
