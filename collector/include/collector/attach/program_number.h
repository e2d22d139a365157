// Identifies the program that a process runs, so that a change by exec is noticed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace lanescope::attach {

// Identifies the program that a process runs. It changes with each exec, even if a program starts itself again, and is the same in a forked child.
struct ProgramNumber {
  std::uint64_t stack = 0;   // address at which its stack begins; 0: not known, for example during exec, or if the system does not tell us
  std::uint64_t random = 0;  // the first eight of the random bytes that the kernel gives each program (AT_RANDOM); 0: not known
  [[nodiscard]] bool is_known() const noexcept { return stack != 0; }
  // Compares what is known of both. Without the random bytes, programs whose addresses are not randomized may be taken for one.
  [[nodiscard]] bool is_same(const ProgramNumber& other) const noexcept {
    return stack == other.stack && (random == other.random || random == 0 || other.random == 0);
  }
};

struct ProgramState {
  bool runs = false;  // the process exists and has not ended
  std::string name;   // as the kernel shortens it
  pid_t parent = 0;
  ProgramNumber number;
};
[[nodiscard]] ProgramState program_state(pid_t pid);

// The address of the random bytes that the kernel gave a process's program (AT_RANDOM). It changes with each exec if addresses are randomized. 0: not
// known.
[[nodiscard]] std::uint64_t address_of_random(pid_t pid);

}  // namespace lanescope::attach
