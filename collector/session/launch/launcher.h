// Starts the target in two steps: first a process that waits, so that its pid can go into the file's name; then the program in it. The program inherits what
// we were given, not our changes to it (collector/session/inheritance.h).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

// The file that a program's name means: its path, relative to the working directory, or the first file of that name in PATH. Fails with one sentence if there
// is none, or no such directory. These are the most frequent errors, and are found here before anything is created.
Result<std::filesystem::path> find_program(const std::string& program, const std::filesystem::path& working_directory);

struct LaunchPlan {
  std::vector<std::string> command;
  std::vector<std::string> environment;     // "NAME=value"
  std::filesystem::path working_directory;  // empty: ours
  int standard_output = -1;                 // its descriptors 1 and 2, if we were given them; -1: ours, as is standard input
  int standard_error = -1;
  std::optional<TargetUser> user;   // none: ours
  std::filesystem::path must_read;  // a file that this user must be able to read: the agent; empty: none
  int death_signal = 0;             // that ends it when the calling thread ends, which must be the process's first one; 0: it runs on
};

// For programs that run no longer than we do: whoever relies on our end to be theirs, by a signal at its own end, relies on theirs. 0 if nobody does, or if
// this thread may end before.
[[nodiscard]] int death_signal_of_this_thread() noexcept;

// Makes this process the program, as it would have been without a recording. Returns only on failure, with the reason.
Error become_program(const LaunchPlan& plan);

class WaitingProcess {
 public:
  // Fails if there are no processes left.
  static Result<WaitingProcess> start(const LaunchPlan& plan);

  WaitingProcess(WaitingProcess&& other) noexcept;
  // Ends a process that was not released, and waits for it.
  ~WaitingProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Lets it become the program; returns once it has. Fails with one sentence if it can't: not found, no permission, no such directory.
  Result<void> release();

 private:
  WaitingProcess() = default;
  pid_t pid_ = 0;
  FileDescriptor gate_;    // one byte lets it continue
  FileDescriptor report_;  // closed when the program runs; otherwise it says why it does not
  LaunchPlan plan_;
};

}  // namespace lanescope::session
