#include "collector/attach/foreign_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include "collector/attach/process_text.h"

namespace lanescope::attach {
namespace {

using channel::FileDescriptor;

constexpr int kPlace = O_PATH | O_CLOEXEC;  // finds a file without opening it

int flags_for(Links links) { return kPlace | (links == Links::kRefuseLast ? O_NOFOLLOW : 0); }

// The number of the mount that a file was found on; empty if it is not known.
std::string mount_of(int place) { return status_value(process_text("/proc/self/fdinfo/" + std::to_string(place)), "mnt_id:"); }

// The user who mounted a file system of FUSE, as these mounts say (proc_pid_mountinfo(5)); nothing if the mount is not among them.
std::optional<uid_t> fuse_user(std::string_view mounts, const std::string& mount) {
  constexpr std::string_view kUser = "user_id=";
  for (std::size_t begin = 0, end = 0; begin < mounts.size(); begin = end + 1) {
    end = std::min(mounts.find('\n', begin), mounts.size());
    const std::string_view line = mounts.substr(begin, end - begin);
    if (!line.starts_with(mount + " ")) continue;
    std::string_view options = line.substr(line.rfind(' ') + 1);  // the last field, without spaces in it
    while (!options.empty()) {
      const std::string_view option = options.substr(0, options.find(','));
      uid_t user = 0;
      if (option.starts_with(kUser) && std::from_chars(option.data() + kUser.size(), option.data() + option.size(), user).ec == std::errc()) return user;
      options.remove_prefix(std::min(options.size(), option.size() + 1));
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// True if neither we nor root mounted the file system of FUSE. Who mounted it says everything about its files, also whose they are. `viewer`: the process by
// whose mounts the file was found.
bool is_anothers_fuse(int place, pid_t viewer) {
  constexpr std::size_t kMostMounts = 4u << 20;  // bytes
  const std::string mount = mount_of(place);
  for (const std::string& mounts : {std::string("/proc/self/mountinfo"), "/proc/" + std::to_string(viewer) + "/mountinfo"})
    if (const auto user = fuse_user(process_text(mounts, kMostMounts), mount); user && !mount.empty()) return *user != 0 && *user != geteuid();
  return true;
}

// Files of the kernel look like regular files, but reading them may block (trace_pipe) or change them (kmsg).
bool is_of_strange_file_system(int place, pid_t viewer) {
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
      return is_anothers_fuse(place, viewer);
    default:
      return false;
  }
}

// Opens what was found if it is a regular file.
std::optional<ForeignFile> open_found(const FileDescriptor& place, pid_t viewer) {
  ForeignFile file;
  if (!place.valid() || is_of_strange_file_system(place.get(), viewer)) return std::nullopt;
  if (fstat(place.get(), &file.facts) != 0 || !S_ISREG(file.facts.st_mode)) return std::nullopt;
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

std::optional<ForeignFile> open_file(const std::string& path, Links links) {
  return open_found(FileDescriptor(open(path.c_str(), flags_for(links))), getpid());
}

std::optional<ForeignFile> open_file_of(pid_t process, const std::string& path, Links links) {
  const FileDescriptor root(open(("/proc/" + std::to_string(process) + "/root").c_str(), O_DIRECTORY | kPlace));
  if (!root.valid()) return std::nullopt;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags_for(links));
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  FileDescriptor place(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
  // Before Linux 5.6, a path can't be confined below a root that is not ours.
  if (!place.valid() && errno == ENOSYS && is_our_root(root.get())) return open_file(path, links);
  return open_found(place, process);
}

}  // namespace lanescope::attach
