// The files that a recording makes: their names, and that no two recordings take the same.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "collector/cpu/cpu_settings.h"
#include "file/frame_log.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

std::string host_name();

struct CreatedFile {
  TraceFileWriter file;
  std::string note;  // one sentence where it has another name than was asked for; else empty
};

// Creates the file that the pattern (output_name.h) names for a program with this pid; in a folder, where it is one, report%n. Variables
// that our environment lacks are left out of the name. Where another recording is writing the file that may be replaced, as where mpirun starts several,
// the name gets a number, and no file that has one is ever replaced. Fails with one sentence.
Result<CreatedFile> create_trace_file(const std::string& pattern, Overwrite overwrite, Readers readers, pid_t pid);

// The variables that a pattern names and our environment lacks: programs that are recorded may set them for their children.
[[nodiscard]] std::vector<std::string> missing_variables(const std::string& pattern);

// Creates the file of the processes that have these variables, as create_trace_file(). What the program says in them makes one part of a
// name: no folder, and letters that need no quotes. A name that is taken, or that is the same for all processes, gets a number.
Result<CreatedFile> create_share_file(const std::string& pattern, const Variables& variables, Overwrite overwrite, Readers readers, pid_t pid);
// Creates the file of a recording that is attached to this process, of which variables may be that our environment lacks. Fails where one is
// in neither.
Result<CreatedFile> create_attached_file(const std::string& pattern, Overwrite overwrite, Readers readers, pid_t pid);
// create_share_file(), for FrameLog::open().
[[nodiscard]] ShareFiles share_files(const std::string& pattern, Overwrite overwrite, Readers readers, pid_t pid);

// A recording that shows what programs of other users do is for nobody else to read. `user`: of the program that is recorded.
[[nodiscard]] Readers readers_of(const cpu::CpuSettings& threads, uid_t user);

// Whether a capture that begins later can have a file of this name, as far as that is known before: fails with the sentence why not. Where the disk is
// full, it may have room by then.
Result<void> check_later_file(const std::string& pattern, Overwrite overwrite, AfterCapture after);

// A pattern under which several files fit: numbered where it is not yet.
[[nodiscard]] std::string numbered_pattern(const std::string& pattern);

}  // namespace lanescope::session
