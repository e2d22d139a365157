#include "free_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace lanescope::gpu_metrics {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

// Of a file that holds one number.
std::uint64_t number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kUnknown;  // "max" is none
}

std::uint64_t available_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kibibytes = 0;
  for (std::string word; file >> word;)
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  return 0;
}

std::uint64_t left_by(std::uint64_t limit, std::uint64_t used) {
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  return limit - std::min(limit, used);
}

// The least that our group and those around it leave, as far as they are in sight.
std::uint64_t left_by_control_groups() {
  std::uint64_t least = kUnknown;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool is_second = line.starts_with("0::");
    const std::size_t first = line.find(":memory:");
    if (!is_second && first == std::string::npos) continue;
    const std::filesystem::path root = is_second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    std::filesystem::path group = is_second ? line.substr(3) : line.substr(first + 8);
    for (group = group.relative_path();; group = group.parent_path()) {
      const std::filesystem::path folder = root / group;
      least = std::min(least, is_second ? left_by(number_in(folder / "memory.max"), number_in(folder / "memory.current"))
                                        : left_by(number_in(folder / "memory.limit_in_bytes"), number_in(folder / "memory.usage_in_bytes")));
      if (group.empty()) break;
    }
  }
  return least;
}

}  // namespace

std::uint64_t free_memory() { return std::min(available_on_machine(), left_by_control_groups()); }

}  // namespace lanescope::gpu_metrics
