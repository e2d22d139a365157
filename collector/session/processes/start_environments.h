// The environments with which the programs of a recording were started, limited to the requested variables.
//
// Programs may overwrite their environment, for example to set their title. It is therefore read once for each program, as soon as it is asked for, and
// forked children have what their program had. If it could not be read, it is read again the next time. One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "processes/proc.h"

namespace lanescope::session {

class StartEnvironments {
 public:
  // Adds variables to the requested ones. What was read before is read again.
  void ask_for(std::span<const std::string_view> names);

  // The requested variables among those of an environment, "NAME=value".
  [[nodiscard]] std::map<std::string, std::string> among(std::span<const std::string> environment) const;
  // The environment of the program that the process runs. O(its environment) for each program, then O(log programs) and some system calls.
  StartVariables of(pid_t pid);

 private:
  using Program = std::pair<std::uint64_t, std::uint64_t>;  // as ProgramNumber

  std::vector<std::string> names_;
  std::map<Program, StartVariables> known_;
};

}  // namespace lanescope::session
