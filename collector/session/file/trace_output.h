// The files that a recording makes: their names. No two recordings take the same name.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "collector/cpu/cpu_settings.h"
#include "file/earlier_files.h"
#include "file/frame_log.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

std::string host_name();

// The name of a file to create, and what it may replace.
struct OutputName {
  std::string pattern;  // output_name.h; if it names a folder, the file is report%n in it
  Overwrite overwrite = Overwrite::kRefuse;
  std::shared_ptr<EarlierFiles> earlier = {};  // only these are replaced; null: any file
  std::string otherwise = {};                  // the pattern if a file is there that is another recording's; empty: `pattern` with a number
};

// Creates the file that the name gives for a program with this pid. Variables that are not in our environment are left out of the name. If the file that was
// to be replaced is another recording's, for example because mpirun starts several, the name gets a number, and no existing file with a number is replaced.
// Fails with one sentence.
Result<CreatedFile> create_trace_file(const OutputName& name, Readers readers, pid_t pid);

// The variables that a pattern names and our environment lacks. Recorded programs may set them for their children.
[[nodiscard]] std::vector<std::string> missing_variables(const std::string& pattern);

// Creates the file of the processes that have these variables, as create_trace_file(). The values come from the program; each becomes a part of a name
// without folders and without letters that need quotes. A name that exists, or that is the same for all processes, gets a number.
Result<CreatedFile> create_share_file(const OutputName& asked, const Variables& variables, Readers readers, pid_t pid);
// Creates the file of a recording that is attached to this process. Variables that our environment lacks may be the process's. Fails if one is in neither.
Result<CreatedFile> create_attached_file(const OutputName& asked, Readers readers, pid_t pid);
// Calls create_share_file(), for FrameLog::open(), and notes what it replaces.
[[nodiscard]] ShareFiles share_files(const OutputName& asked, Readers readers, pid_t pid);

// Readers of the file: a recording that shows what programs of other users do may be read by nobody else. `user`: of the recorded program.
[[nodiscard]] Readers readers_of(const cpu::CpuSettings& threads, uid_t user);

// Checks whether a later capture can have a file of this name, as far as this is known before. Fails with a sentence that says why not. A full disk is not an
// obstacle, because it may have room by then.
Result<void> check_later_file(const std::string& pattern, Overwrite overwrite, AfterCapture after);

// A pattern with which several files can be named: %n is added if it is missing.
[[nodiscard]] std::string numbered_pattern(const std::string& pattern);
// The pattern for one of several captures, numbered from 1, of a recording whose files are named like this. If it may replace files and has no %n, its files
// have the numbers of the captures, so that a second recording replaces those of the first; otherwise the numbers are unused ones.
[[nodiscard]] std::string pattern_of_capture(const std::string& asked, std::uint32_t number, Overwrite overwrite);

// The files that captures with this name may replace, of a recording that begins now or is asked for them now.
[[nodiscard]] std::shared_ptr<EarlierFiles> earlier_files(const std::string& asked, Overwrite overwrite, EarlierFiles::Captures captures);

}  // namespace lanescope::session
