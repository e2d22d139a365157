#include "agent/core/faults/readable.h"

#include <cerrno>

#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"

namespace lanescope::agent {

// The kernel is asked, since looking would end the program: for a change of held signals that there is not, for which it reads the place before it refuses.
// Where a filter forbids that, nothing is asked.
bool is_readable(std::uintptr_t place) noexcept {
  if (!may_hold_signals()) return true;
  constexpr long kNoSuchChange = 99;
  constexpr std::uintptr_t kSetBytes = sizeof(std::uint64_t);
  const auto set = static_cast<long>(place / kSetBytes * kSetBytes);
  return system::system_call(SYS_rt_sigprocmask, kNoSuchChange, set, 0, kSetBytes) != -EFAULT;
}

}  // namespace lanescope::agent
