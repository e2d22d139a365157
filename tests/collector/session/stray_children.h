// Children of a test that become programs, and the looks that find them.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "processes/proc.h"
#include "processes/unfollowed/strays.h"
#include "support/catch.h"

namespace lanescope::session {

inline constexpr const char* kVariable = "LANESCOPE_TEST_OF_STRAYS";

// A process that runs a program until it is destroyed.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) { REQUIRE(pid > 0); }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// `pause` waits for the test's end, however long that takes.
inline pid_t start_program(const std::vector<const char*>& environment) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> variables;
  for (const char* variable : environment) variables.push_back(const_cast<char*>(variable));
  variables.push_back(nullptr);
  char* arguments[] = {const_cast<char*>("sleep"), const_cast<char*>("100000"), nullptr};
  execve("/bin/sleep", arguments, variables.data());
  _exit(125);
}

inline void wait_until_it_runs(pid_t pid, const std::string& name) {
  while (program_state(pid).name != name || !has_arguments(pid)) usleep(1000);  // within exec, it has its name first
}

inline bool none_is_joined(pid_t) { return false; }

// Looks until one is found.
inline StrayProcesses::Stray next_of(StrayProcesses& strays) {
  for (;;) {
    const std::vector<StrayProcesses::Stray> found = strays.look(none_is_joined);
    if (!found.empty()) return found.front();
    usleep(1000);
  }
}

}  // namespace lanescope::session
