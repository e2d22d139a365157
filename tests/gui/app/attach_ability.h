// Whether this machine lets processes be attached to, and be observed from outside.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

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

// Whether the kernel lets the switches of a thread of that process be counted. Asked of it and not of the recorder, for the same reason.
inline bool machine_lets_observe(pid_t process) {
  perf_event_attr event{};
  event.size = sizeof(event);
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_DUMMY;
  event.context_switch = 1;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  event.disabled = 1;
  const auto descriptor = static_cast<int>(syscall(SYS_perf_event_open, &event, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
}

}  // namespace lanescope::test
