#include "model/file/memory_limits.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace lanescope {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
constexpr const char* kOwnGroups = "/proc/self/cgroup";
constexpr const char* kGroups = "/sys/fs/cgroup";

// Reads a file that contains one number.
std::uint64_t number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kUnknown;  // "max" means no limit
}

std::uint64_t available_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kibibytes = 0;
  for (std::string word; file >> word;)
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  return 0;
}

std::uint64_t memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages <= 0 || page <= 0 ? kUnknown : static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

std::uint64_t left_by(std::uint64_t limit, std::uint64_t used) {
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  return limit - std::min(limit, used);
}

enum class GroupVersion { kFirst, kSecond };

// The least `number` of our groups and their parents, as far as they are visible.
template <typename Number>
std::uint64_t least_of_control_groups(const std::filesystem::path& own, const std::filesystem::path& root, const Number& number) {
  std::uint64_t least = kUnknown;
  std::ifstream groups(own);
  for (std::string line; std::getline(groups, line);) {
    const bool is_second = line.starts_with("0::");
    const std::size_t first = line.find(":memory:");
    if (!is_second && first == std::string::npos) continue;
    const std::filesystem::path top = is_second ? root : root / "memory";
    std::filesystem::path group = is_second ? line.substr(3) : line.substr(first + 8);
    for (group = group.relative_path();; group = group.parent_path()) {
      least = std::min(least, number(top / group, is_second ? GroupVersion::kSecond : GroupVersion::kFirst));
      if (group.empty()) break;
    }
  }
  return least;
}

std::uint64_t limit_of(const std::filesystem::path& group, GroupVersion version) {
  return number_in(group / (version == GroupVersion::kSecond ? "memory.max" : "memory.limit_in_bytes"));
}

// Bytes of the file cache, which the kernel releases if memory is needed.
std::uint64_t cached_files(const std::filesystem::path& group, GroupVersion version) {
  const std::string prefix = version == GroupVersion::kSecond ? "" : "total_";
  std::ifstream statistics(group / "memory.stat");
  std::uint64_t sum = 0, value = 0;
  for (std::string key; statistics >> key >> value;)
    if (key == prefix + "inactive_file" || key == prefix + "active_file") sum += value;
  return sum;
}

std::uint64_t left_by_control_groups() {
  return least_of_control_groups(kOwnGroups, kGroups, [](const std::filesystem::path& group, GroupVersion version) {
    const std::uint64_t limit = limit_of(group, version);
    if (limit == kUnknown) return kUnknown;  // the usual case; reading memory.stat is expensive for the kernel
    std::uint64_t used = number_in(group / (version == GroupVersion::kSecond ? "memory.current" : "memory.usage_in_bytes"));
    if (used != kUnknown) used -= std::min(used, cached_files(group, version));
    return left_by(limit, used);
  });
}

std::uint64_t limit_of_resources() {
  std::uint64_t least = kUnknown;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) least = std::min<std::uint64_t>(least, limit.rlim_cur);
  }
  return least;
}

}  // namespace

std::uint64_t free_memory() { return std::min(available_on_machine(), left_by_control_groups()); }

std::uint64_t memory_limit() { return std::min({memory_of_machine(), memory_limit_of_control_groups(kOwnGroups, kGroups), limit_of_resources()}); }

std::uint64_t memory_limit_of_control_groups(const std::filesystem::path& groups, const std::filesystem::path& root) {
  return least_of_control_groups(groups, root, limit_of);
}

}  // namespace lanescope
