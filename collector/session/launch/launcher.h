// Starts the target in two steps: a process that waits, so that its pid can go into the file's name; then the program in it. The program
// inherits what we were given, not what we made of it (collector/session/inheritance.h).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

// The file that a program's name means: its path, seen from the working directory, or the first of that name in PATH. Fails with one
// sentence when there is none, or no such directory: what most often is wrong, found before anything is created.
Result<std::filesystem::path> find_program(const std::string& program, const std::filesystem::path& working_directory);

struct LaunchPlan {
  std::vector<std::string> command;
  std::vector<std::string> environment;     // "NAME=value"
  std::filesystem::path working_directory;  // empty: ours
  int standard_output = -1;                 // its descriptors 1 and 2, where we were given them; -1: ours, as is standard input
  int standard_error = -1;
  std::optional<TargetUser> user;   // none: ours
  std::filesystem::path must_read;  // what that user has to be able to read: the agent; empty: nothing
};

// This process becomes the program, as it would have been without a recording. Returns why it could not.
Error become_program(const LaunchPlan& plan);

class WaitingProcess {
 public:
  // Fails when there are no processes left.
  static Result<WaitingProcess> start(const LaunchPlan& plan);

  WaitingProcess(WaitingProcess&& other) noexcept;
  // A process that was not released ends, and is waited for.
  ~WaitingProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Lets it become the program; returns once it has. Fails with one sentence when it can't: not found, no permission, no such directory.
  Result<void> release();

 private:
  WaitingProcess() = default;
  pid_t pid_ = 0;
  FileDescriptor gate_;    // one byte lets it go on
  FileDescriptor report_;  // closes when the program runs; else says why it does not
  LaunchPlan plan_;
};

}  // namespace lanescope::session
