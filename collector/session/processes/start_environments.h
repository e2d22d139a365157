// What the programs of a recording were started with, of the variables that are asked for.
//
// Programs write over their environment, as those do that set their title. So it is read once for each program, as soon as anybody asks, and forked children
// have what their program had. Where it could not be told, it is read again. One thread.
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
  // From here on it is known of these, too; what was read before is read anew.
  void ask_for(std::span<const std::string_view> names);

  // Of the program that the process runs. O(its environment) for each program, then O(log programs) and some system calls.
  StartVariables of(pid_t pid);

 private:
  using Program = std::pair<std::uint64_t, std::uint64_t>;  // as ProgramNumber

  std::vector<std::string> names_;
  std::map<Program, StartVariables> known_;
};

}  // namespace lanescope::session
