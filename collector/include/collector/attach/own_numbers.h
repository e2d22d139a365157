// The numbers that a process's threads have for themselves. They differ from ours if the process is in another PID namespace, for example in a
// container.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>

namespace lanescope::attach {

class OwnNumbers {
 public:
  explicit OwnNumbers(pid_t process) : process_(process) {}

  // True if the process's number for itself differs from ours. Reads /proc.
  [[nodiscard]] bool differ() const;

  // Our number of the thread whose own number is `own`; 0 if there was no such thread at the time we looked. Reads /proc when a number is asked for
  // the first time.
  std::uint32_t ours(std::uint32_t own);
  // Reads /proc again. Numbers of threads that have ended stay known, up to 65,536 numbers.
  void look();
  [[nodiscard]] bool knows(std::uint32_t own) const { return ours_.contains(own); }

 private:
  pid_t process_;
  std::map<std::uint32_t, std::uint32_t> ours_;  // by own number
  std::set<std::uint32_t> unknown_;              // own numbers that were not found
};

}  // namespace lanescope::attach
