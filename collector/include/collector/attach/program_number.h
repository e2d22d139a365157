// Which program a process runs, as far as it is another one after each exec.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace lanescope::attach {

// Stands for the program that a process runs: another one after each exec, also where a program starts itself anew, and the same in a forked child.
struct ProgramNumber {
  std::uint64_t stack = 0;   // address at which its stack begins; 0: not known, as while exec is under way, and where the system does not tell us
  std::uint64_t random = 0;  // of what the kernel gives each program to begin random numbers with (AT_RANDOM); 0: not known
  [[nodiscard]] bool is_known() const noexcept { return stack != 0; }
  // As far as is known of both. Without random numbers, programs whose addresses are not randomized may be taken for one.
  [[nodiscard]] bool is_same(const ProgramNumber& other) const noexcept {
    return stack == other.stack && (random == other.random || random == 0 || other.random == 0);
  }
};

struct ProgramState {
  bool runs = false;  // the process is there, and has not ended
  std::string name;   // as the kernel shortens it
  pid_t parent = 0;
  ProgramNumber number;
};
[[nodiscard]] ProgramState program_state(pid_t pid);

// Where a process's program has what the kernel gave it to begin random numbers with (AT_RANDOM): at another address after each exec, where addresses are
// randomized. 0: not known.
[[nodiscard]] std::uint64_t address_of_random(pid_t pid);

}  // namespace lanescope::attach
