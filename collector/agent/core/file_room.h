// How far the program's own limit for files allows the agent to write.
#pragma once

#include <cstdint>

#include <sys/resource.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent {

// True if a file may grow to `bytes` bytes, or be written up to there (RLIMIT_FSIZE). Writing beyond would send the program a signal that ends it.
inline bool may_write_up_to(std::int64_t bytes) noexcept {
  rlimit limit{};
  return system::system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, system::word(&limit)) == 0 && static_cast<rlim_t>(bytes) <= limit.rlim_cur;
}

}  // namespace lanescope::agent
