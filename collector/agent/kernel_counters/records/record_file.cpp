#include "agent/kernel_counters/records/record_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>

#include "agent/core/file_room.h"
#include "agent/core/system_calls.h"
#include "collector/channel/kernel_counters.h"

namespace lanescope::agent::kernel_counters {
namespace {

bool has_room(int file, std::size_t bytes) noexcept {
  struct stat status {};
  return system::file_status(file, status) && may_write_up_to(status.st_size + static_cast<off_t>(bytes));
}

}  // namespace

bool RecordFile::open(const char* folder, std::uint32_t process_instance) noexcept {
  const int length = std::snprintf(path_, sizeof(path_), "%s/%s/%u", folder, channel::kCounterRecordFolder, process_instance);
  is_full_ = length <= 0 || static_cast<std::size_t>(length) >= sizeof(path_);
  const ScopedLock lock(lock_);
  return !is_full_ && descriptor() >= 0;
}

int RecordFile::descriptor() noexcept {
  if (const int known = file_.number(); known >= 0) return known;
  constexpr int kFromHere = -100;  // AT_FDCWD
  constexpr long kForUs = 0600;
  const long opened = system::system_call(SYS_openat, kFromHere, system::word(path_), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kForUs);
  file_ = OwnDescriptor::keep(static_cast<int>(opened));
  return file_.number();
}

bool RecordFile::write(std::initializer_list<std::span<const std::byte>> parts) noexcept {
  const ScopedLock lock(lock_);
  if (is_full_) return false;
  const int file = descriptor();
  is_full_ = file < 0 || !write(file, parts);
  if (is_full_) {
    // The host waits for a record of the end of a measurement. This tells it that none comes, without needing room.
    constexpr long kForUsToRead = 0400;
    if (file >= 0) static_cast<void>(system::system_call(SYS_fchmod, file, kForUsToRead));
    file_.close();
  }
  return !is_full_;
}

bool RecordFile::write(int file, std::initializer_list<std::span<const std::byte>> parts) noexcept {
  std::size_t bytes = 0;
  for (const std::span<const std::byte> part : parts) bytes += part.size();
  if (!has_room(file, bytes)) return false;
  for (std::span<const std::byte> part : parts) {
    while (!part.empty()) {
      const long written = system::write(file, part.data(), part.size());
      if (written > 0)
        part = part.subspan(static_cast<std::size_t>(written));
      else if (written != -EINTR)
        return false;
    }
  }
  return true;
}

}  // namespace lanescope::agent::kernel_counters
