// How much memory this process uses.
#pragma once

#include <cstddef>
#include <fstream>

#include <unistd.h>

namespace lanescope::test {

// The part of it that is in memory now, in bytes.
inline std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace lanescope::test
