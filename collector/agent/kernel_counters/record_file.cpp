#include "agent/kernel_counters/record_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent::kernel_counters {

bool RecordFile::open(const char* folder, std::uint32_t process_instance) noexcept {
  char path[4096];
  const int length = std::snprintf(path, sizeof(path), "%s/%u", folder, process_instance);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(path)) return false;
  constexpr int kFromHere = -100;  // AT_FDCWD
  constexpr long kForUs = 0600;
  file_ = static_cast<int>(system::system_call(SYS_openat, kFromHere, system::word(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kForUs));
  return file_ >= 0;
}

bool RecordFile::write(std::initializer_list<std::span<const std::byte>> parts) noexcept {
  const ScopedLock lock(lock_);
  for (std::span<const std::byte> part : parts) {
    while (file_ >= 0 && !part.empty()) {
      const long written = system::write(file_, part.data(), part.size());
      if (written > 0) {
        part = part.subspan(static_cast<std::size_t>(written));
      } else if (written != -EINTR) {
        system::close(file_);
        file_ = -1;
      }
    }
  }
  return file_ >= 0;
}

}  // namespace lanescope::agent::kernel_counters
