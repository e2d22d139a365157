// Measures what a part of a test takes.
#pragma once

#include <cstddef>
#include <ctime>
#include <fstream>
#include <string>

namespace lanescope::test {

// Limits for reading any file of up to 10 MB. The goal is 5 s, which tests/hostile/sweep.sh measures. Reading without limits would take minutes, and slow
// machines must pass, too. Sanitizers multiply the time and the memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kMostSeconds = 120;
inline constexpr std::size_t kMostBytes = std::size_t{4} << 30;
#else
inline constexpr double kMostSeconds = 20;
inline constexpr std::size_t kMostBytes = std::size_t{1} << 30;
#endif

struct Cost {
  double seconds = 0;     // of processors, for all threads
  std::size_t bytes = 0;  // largest growth of memory
};

namespace detail {

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A line of /proc/self/status, in bytes: "VmRSS:", what is in memory now; "VmHWM:", the most that was.
inline std::size_t memory_line(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == name && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace detail

template <typename Action>
Cost cost_of(Action action) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the largest amount of memory
  const std::size_t before = detail::memory_line("VmRSS:");
  const double begin = detail::processor_seconds();
  action();
  const std::size_t most = detail::memory_line("VmHWM:");
  return {detail::processor_seconds() - begin, most > before ? most - before : 0};
}

}  // namespace lanescope::test
