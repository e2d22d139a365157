#include "collector/attach/foreign_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace lanescope::attach {
namespace {

using channel::FileDescriptor;

constexpr int kPlace = O_PATH | O_CLOEXEC;  // finds a file without opening it

int flags_for(Links links) { return kPlace | (links == Links::kRefuseLast ? O_NOFOLLOW : 0); }

// Files of the kernel look like regular files, but reading them may block (trace_pipe) or change them (kmsg).
bool is_of_strange_file_system(int place, const struct stat& facts) {
  struct statfs system {};
  if (fstatfs(place, &system) != 0) return true;
  switch (system.f_type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case CGROUP2_SUPER_MAGIC:
      return true;
    case FUSE_SUPER_MAGIC:
      return facts.st_uid != geteuid();
    default:
      return false;
  }
}

// Opens what was found if it is a regular file.
std::optional<ForeignFile> open_found(const FileDescriptor& place) {
  ForeignFile file;
  if (!place.valid() || fstat(place.get(), &file.facts) != 0 || !S_ISREG(file.facts.st_mode)) return std::nullopt;
  if (is_of_strange_file_system(place.get(), file.facts)) return std::nullopt;
  const std::string path = "/proc/self/fd/" + std::to_string(place.get());
  file.descriptor = FileDescriptor(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.descriptor.valid()) return std::nullopt;
  return file;
}

bool is_our_root(int root) {
  struct stat ours {};
  struct stat theirs {};
  return stat("/", &ours) == 0 && fstat(root, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

}  // namespace

std::optional<ForeignFile> open_file(const std::string& path, Links links) { return open_found(FileDescriptor(open(path.c_str(), flags_for(links)))); }

std::optional<ForeignFile> open_file_of(pid_t process, const std::string& path, Links links) {
  const FileDescriptor root(open(("/proc/" + std::to_string(process) + "/root").c_str(), O_DIRECTORY | kPlace));
  if (!root.valid()) return std::nullopt;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags_for(links));
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  FileDescriptor place(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
  // Before Linux 5.6, a path can't be confined below a root that is not ours.
  if (!place.valid() && errno == ENOSYS && is_our_root(root.get())) return open_file(path, links);
  return open_found(place);
}

}  // namespace lanescope::attach
