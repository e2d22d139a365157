// A folder in memory, for code that takes files by their names in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace lanescope::fuzz {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/lanescope-fuzz-XXXXXX" : "/tmp/lanescope-fuzz-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lanescope::fuzz
