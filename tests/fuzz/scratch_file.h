// One file in memory to which inputs are written, for code that opens files by name.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace lanescope::fuzz {

class ScratchFile {
 public:
  explicit ScratchFile(std::string_view ending) : path_("/dev/shm/lanescope-fuzz-" + std::to_string(getpid()) + std::string(ending)) {}
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  void write(const void* data, std::size_t size) const {
    const int descriptor = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
    close(descriptor);
  }

 private:
  std::string path_;
};

}  // namespace lanescope::fuzz
