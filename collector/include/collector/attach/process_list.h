// The processes of this machine, for a user who wants to attach to one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lanescope::attach {

struct ProcessSummary {
  pid_t pid = 0;
  std::string name;  // of the program; complete if the command line shows it, else the kernel's 15 characters
  std::string command_line;
  std::string user;                 // login name, or the number if there is none
  bool uses_cuda = false;           // libcuda is loaded; false also if that may not be read
  bool has_agent = false;           // our agent is loaded
  std::string refusal;              // why attaching can't work; empty if it may work
  std::string observation_refusal;  // why its threads can't even be observed from outside; empty if they can
};

// The numbers of all processes that we can see, in ascending order. Safe to call from any thread.
[[nodiscard]] std::vector<pid_t> process_numbers();

// All processes except kernel threads, ourselves, a recorder's processes and those that have ended, by pid. Takes about 0.1 ms a process. Safe to
// call from any thread.
std::vector<ProcessSummary> list_processes();

}  // namespace lanescope::attach
