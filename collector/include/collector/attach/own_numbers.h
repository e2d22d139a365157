// Numbers of a process's threads as they know them themselves. They differ from ours where the process lives in a PID namespace of its own,
// as in a container.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>

namespace lanescope::attach {

class OwnNumbers {
 public:
  explicit OwnNumbers(pid_t process) : process_(process) {}

  // Whether the process has another number for itself than we have. Reads /proc.
  [[nodiscard]] bool differ() const;

  // Our number of the thread that has this one for itself; 0 where there was no such thread whenever we looked. Looks into /proc for a
  // number that is asked for the first time.
  std::uint32_t ours(std::uint32_t own);
  // Looks anew. Numbers of threads that have ended stay known.
  void look();
  [[nodiscard]] bool knows(std::uint32_t own) const { return ours_.contains(own); }

 private:
  pid_t process_;
  std::map<std::uint32_t, std::uint32_t> ours_;  // by own number
  std::set<std::uint32_t> unknown_;              // that were looked for in vain
};

}  // namespace lanescope::attach
