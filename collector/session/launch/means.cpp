#include "launch/means.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

namespace lanescope::session {
namespace {

constexpr rlim_t kSmallestFile = 64u << 10;  // bytes, which a recording of next to nothing takes

std::string descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return std::to_string(limit.rlim_max);
}

}  // namespace

Result<SpareDescriptors> SpareDescriptors::take() {
  SpareDescriptors spare;
  for (FileDescriptor& descriptor : spare.descriptors_) {
    descriptor = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!descriptor.valid())
      return Error{"The program can't be recorded: this process may have " + descriptor_limit() +
                   " files open, which is too few. Allow more (ulimit -n) and record again."};
  }
  return spare;
}

bool has_room_for_files(const std::string& name) {
  if (!FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)).valid()) return false;
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kSmallestFile) return false;
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  struct statvfs disk {};
  return statvfs(folder.empty() ? "." : folder.c_str(), &disk) != 0 || disk.f_bavail * disk.f_frsize >= kSmallestFile;
}

}  // namespace lanescope::session
