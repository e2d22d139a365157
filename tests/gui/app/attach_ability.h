// Whether this machine lets processes be attached to.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lanescope::test {

// Whether what the kernel says of itself and of this process (capabilities(7), Yama) lets a process of this user be attached to. Asked of it and not of
// the dialog: a test that is skipped where the dialog refuses would pass whatever it refuses.
inline bool machine_lets_attach() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;  // none: without Yama
  if (scope == 0) return true;
  constexpr std::uint64_t kSysPtrace = std::uint64_t{1} << 19;
  std::uint64_t capabilities = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) capabilities = std::stoull(line.substr(7), nullptr, 16);
  return scope < 3 && (capabilities & kSysPtrace) != 0;
}
inline constexpr const char* kNotHere = "this machine lets no process be attached to";

}  // namespace lanescope::test
