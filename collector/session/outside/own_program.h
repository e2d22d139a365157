// Starts a program of ours that does a part of a recording.
#pragma once

#include <sys/types.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace lanescope::session {

// A descriptor of ours, and the number that it has there.
struct Handed {
  int ours;
  int theirs;
};

// The first word is its path, or a name that is looked up in PATH. No signals are blocked in it, although they are in this process. Returns its process id,
// or -errno.
pid_t start_own_program(const std::vector<std::string>& words, std::initializer_list<Handed> descriptors);

}  // namespace lanescope::session
