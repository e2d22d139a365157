// Reads where processes have mapped code.
//
// The kernel lists all mappings of a process, those of code or not: 20 ms for 60,000 of them. If a process with that many forks again and again, all its
// children would wait for that, one after the other. So if a reading is slow, children of the same process share it for a while, and slow readings take 5 % of
// the time at most.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "modules.h"

namespace lanescope::cpu {

// One thread.
class AddressSpaces {
 public:
  explicit AddressSpaces(ModuleTable& modules) : modules_(modules) {}

  // What a process has mapped that we see for the first time.
  [[nodiscard]] AddressSpace first(pid_t process);
  // Adds what the process has mapped since. Does nothing if slow readings have taken their share of the time.
  void add(pid_t process, AddressSpace& space);

 private:
  using Clock = std::chrono::steady_clock;
  using Identity = std::pair<pid_t, std::uint64_t>;  // with the time of its start
  struct Known {
    AddressSpace space;
    Clock::time_point until;
  };
  struct Family {
    Identity process;
    std::optional<Identity> parent;  // if it runs the same program, in the same memory
  };
  static Family family_of(pid_t process);
  void keep(const Identity& process, const Known& known);

  ModuleTable& modules_;
  std::map<Identity, Known> known_;  // of processes whose reading is slow: as they are, or as their last child was when it was forked
  Clock::time_point next_;           // earliest time of the next slow reading
};

}  // namespace lanescope::cpu
