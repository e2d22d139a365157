// The processes of this machine as someone sees them who wants to attach to one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lanescope::attach {

struct ProcessSummary {
  pid_t pid = 0;
  std::string name;  // of the program, whole where its command line says it
  std::string command_line;
  std::string user;                 // login name, or the number where there is none
  bool uses_cuda = false;           // libcuda is loaded; false also where that may not be read
  bool has_agent = false;           // our agent is loaded
  std::string refusal;              // why attaching can't work; empty when it can
  std::string observation_refusal;  // why even its threads can't be observed from outside; empty when they can
};

// Of all processes that are ours to see, in ascending order. Safe to call from any thread.
[[nodiscard]] std::vector<pid_t> process_numbers();

// All processes but kernel threads, ourselves and what belongs to a recorder, by pid. Takes about 0.1 ms a process. Safe to call from any thread.
std::vector<ProcessSummary> list_processes();

}  // namespace lanescope::attach
