// A disk that is full, for the files of this process.
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace lanescope::test {

// While it exists, no file of this process grows beyond this size: the kernel answers EFBIG, as a full disk answers ENOSPC.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t most_bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{most_bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace lanescope::test
