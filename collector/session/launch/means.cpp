#include "launch/means.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

namespace lanescope::session {
namespace {

constexpr rlim_t kSmallestFile = 64u << 10;  // bytes, which an almost empty recording takes

// None if there is no such limit.
std::optional<rlim_t> limit_of(decltype(RLIMIT_DATA) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::string descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return std::to_string(limit.rlim_max);
}

// True if a thread would get its stack. Without room for it, the C library returns EAGAIN, as the kernel does if there are no processes left.
bool has_room_for_stack() {
  constexpr std::size_t kUsualStack = 8u << 20;
  const std::size_t size = limit_of(RLIMIT_STACK).value_or(kUsualStack);
  void* const stack = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return false;
  munmap(stack, size);
  return true;
}

std::string lack_of_memory() {
  constexpr rlim_t kKibibyte = 1024;
  if (const auto data = limit_of(RLIMIT_DATA))
    return "this process may have " + std::to_string(*data / kKibibyte) + " KiB of data, which is too little. Allow more (ulimit -d) and record again.";
  if (const auto addresses = limit_of(RLIMIT_AS))
    return "this process may have " + std::to_string(*addresses / kKibibyte) +
           " KiB of addresses, which is too little. Allow more (ulimit -v) and record again.";
  return "the system has not enough memory left. Close other programs and try again.";
}

std::string lack_of_processes() {
  const auto most = limit_of(RLIMIT_NPROC);
  if (most && geteuid() != 0)  // the limit does not apply to root
    return "this user may have " + std::to_string(*most) + " processes and threads, which are in use. Allow more (ulimit -u), or close other programs.";
  return "the system or this container has no processes left. Close other programs and try again.";
}

std::string what_is_short(int error) {
  switch (error) {
    case EMFILE:
      return "this process may have " + descriptor_limit() + " files open, which is too few. Allow more (ulimit -n) and record again.";
    case ENFILE:
      return "the system has no file descriptors left. Close other programs and try again.";
    case ENOMEM:
      return lack_of_memory();
    case EAGAIN:
      return has_room_for_stack() ? lack_of_processes() : lack_of_memory();
    default:
      return std::string(std::strerror(error)) + ".";
  }
}

}  // namespace

Error shortage(int error) { return {"The program can't be recorded: " + what_is_short(error)}; }

Result<SpareDescriptors> SpareDescriptors::take() {
  SpareDescriptors spare;
  for (FileDescriptor& descriptor : spare.descriptors_) {
    descriptor = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!descriptor.valid()) return shortage(errno);
  }
  return spare;
}

bool has_room_for_files(const std::string& name) {
  if (!FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)).valid()) return false;
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kSmallestFile) return false;
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  struct statvfs disk {};
  if (statvfs(folder.empty() ? "." : folder.c_str(), &disk) != 0) return true;
  const bool is_disk = disk.f_blocks != 0;  // /proc and /sys are none
  const bool counts_files = disk.f_files != 0;
  return !is_disk || (disk.f_bavail * disk.f_frsize >= kSmallestFile && (!counts_files || disk.f_favail != 0));
}

}  // namespace lanescope::session
