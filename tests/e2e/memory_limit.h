// A control group with little memory.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace lanescope::test {

// A group of processes that may have this much memory together, if we are allowed to make one.
class MemoryLimit {
 public:
  explicit MemoryLimit(int mebibytes) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line) && !made_;) {
      const bool is_second = line.starts_with("0::") && std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers");
      const std::size_t first = line.find(":memory:");
      if (!is_second && first == std::string::npos) continue;
      const std::string own = line.substr(line.rfind(':') + 1);
      folder_ = std::filesystem::path(is_second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") / own.substr(1) / ("lanescope-test-" + std::to_string(getpid()));
      made_ = mkdir(folder_.c_str(), 0700) == 0 && write(is_second ? "memory.max" : "memory.limit_in_bytes", std::to_string(mebibytes) + "M");
      // Has an effect only if there is swap.
      static_cast<void>(is_second ? write("memory.swap.max", "0") : write("memory.memsw.limit_in_bytes", std::to_string(mebibytes) + "M"));
    }
  }
  // Processes that end with a recorder end a moment after it, so that the folder may be in use for a while.
  ~MemoryLimit() {
    constexpr int kLooks = 5'000;
    for (int look = 0; made_ && rmdir(folder_.c_str()) != 0 && look < kLooks; ++look) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  // The file to which a process writes its number to join the group; empty if there is no such group.
  [[nodiscard]] std::string entry() const { return made_ ? (folder_ / "cgroup.procs").string() : std::string(); }

 private:
  [[nodiscard]] bool write(const char* file, const std::string& text) const {
    std::ofstream stream(folder_ / file);
    stream << text << std::flush;
    return stream.good();
  }
  std::filesystem::path folder_;
  bool made_ = false;
};

}  // namespace lanescope::test
