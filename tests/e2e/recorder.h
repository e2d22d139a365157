// Runs `lanescope` as a user does, and reads what it leaves.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::test {

struct Environment {
  std::string name;
  std::string value;
};

// A `lanescope` that runs in a given folder. Its output is kept separate from its messages.
class LanescopeProcess {
 public:
  LanescopeProcess(const std::filesystem::path& folder, const std::vector<std::string>& arguments, const std::vector<Environment>& environment = {});
  ~LanescopeProcess();
  LanescopeProcess(const LanescopeProcess&) = delete;
  LanescopeProcess& operator=(const LanescopeProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Reads standard output until this line has come. Fails the test if the output ends before.
  void wait_for_line(const std::string& line);
  // Reads standard error until this text has come. Fails the test if the process ends before.
  void wait_for_message(const std::string& text) const;
  // Waits for its end; returns the exit code, or 128 + signal.
  int wait();
  // Its only child that runs a program.
  [[nodiscard]] pid_t target() const;

  [[nodiscard]] const std::string& output() const { return output_; }      // valid after wait()
  [[nodiscard]] const std::string& messages() const { return messages_; }  // valid after wait()

 private:
  pid_t pid_ = 0;
  int output_end_ = -1;
  std::filesystem::path messages_file_;
  std::string output_;
  std::string messages_;
};

// For a child that was just forked: runs `lanescope` in the folder, with these as its standard output and error.
[[noreturn]] void become_lanescope(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::vector<Environment>& environment,
                                   int output, int messages);

struct Ran {
  int code;
  std::string output;
  std::string messages;
};
Ran run_lanescope(const std::filesystem::path& folder, const std::vector<std::string>& arguments, const std::vector<Environment>& environment = {});
// Runs the command, given by its path, without a recorder. Only its output is read.
Ran run_alone(const std::vector<std::string>& command);

// The program whose ranges tests/programs/nvtx/nvtx_threads_facts.h states.
std::string threads_program();

std::shared_ptr<const Trace> load(const std::filesystem::path& path);

// Number of events of one kind with this name, in one process or in all (kNone).
std::uint64_t count_events(const Trace& trace, TrackKind kind, std::string_view name, ProcessId process = kNone);

}  // namespace lanescope::test
