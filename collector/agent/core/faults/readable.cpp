#include "agent/core/faults/readable.h"

#include <cerrno>

#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"

namespace lanescope::agent {

// Asks the kernel, because reading would end the program. The call asks for a change of the signal mask that does not exist; the kernel reads the place before
// it refuses. If a filter forbids that call, nothing is asked.
bool is_readable(std::uintptr_t place) noexcept {
  constexpr std::uintptr_t kLowest = 4096;  // below it, there is nothing; to the kernel, address 0 means that no set is given
  if (place < kLowest) return false;
  if (!may_hold_signals()) return true;
  constexpr long kNoSuchChange = 99;
  constexpr std::uintptr_t kSetBytes = sizeof(std::uint64_t);
  const auto set = static_cast<long>(place / kSetBytes * kSetBytes);
  return system::system_call(SYS_rt_sigprocmask, kNoSuchChange, set, 0, kSetBytes) != -EFAULT;
}

}  // namespace lanescope::agent
