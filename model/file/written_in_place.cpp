#include "model/file/written_in_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "model/file/new_file.h"
#include "own_link.h"

namespace lanescope {
namespace {

// Names that only root assigns, for devices and for open files of a process.
bool is_of_system(const std::filesystem::path& path) {
  if (path != path.lexically_normal()) return false;
  const std::filesystem::path folder = path.parent_path();
  const bool is_open_file = folder.filename() == "fd" && folder.parent_path().parent_path() == "/proc";
  return folder == "/dev" || folder == "/dev/fd" || is_open_file;
}

bool is_written_in_place(mode_t mode) { return !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode); }

// Opens a pipe as soon as somebody reads it; for other files the same as open().
int open_when_read(const std::filesystem::path& path, int flags) {
  constexpr int kAttempts = 40;
  constexpr timespec kPause{0, 50'000'000};
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    if (descriptor >= 0 || errno != ENXIO) break;
    nanosleep(&kPause, nullptr);
  }
  return descriptor;
}

// Opens what was checked, and fails if something else has taken its place.
Result<std::optional<int>> open_seen(const std::filesystem::path& path, const struct stat& seen, int flags) {
  const int descriptor = open_when_read(path, flags);
  if (descriptor < 0 && errno == ENXIO) return Error{path.string() + " can't be written: nobody reads from it."};
  if (descriptor < 0) return not_written(path.string(), std::strerror(errno));
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || facts.st_dev != seen.st_dev || facts.st_ino != seen.st_ino) {
    close(descriptor);
    return Error{path.string() + " was replaced just now. Give another name."};
  }
  fcntl(descriptor, F_SETFL, 0);  // from now on, writes block until the reader is ready
  return std::optional<int>(descriptor);
}

}  // namespace

Result<std::optional<int>> open_written_in_place(const std::filesystem::path& path) {
  constexpr std::optional<int> kNone;
  std::filesystem::path place = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat facts {};
    if (is_of_system(place)) {
      if (stat(place.c_str(), &facts) != 0 || !is_written_in_place(facts.st_mode)) return kNone;
      return open_seen(place, facts, 0);
    }
    if (lstat(place.c_str(), &facts) != 0) return kNone;
    if (S_ISFIFO(facts.st_mode) && facts.st_uid != geteuid() && facts.st_uid != 0)
      return Error{place.string() + " is a pipe of another user, who may read it. Remove it, or give another name."};
    if (is_written_in_place(facts.st_mode)) return open_seen(place, facts, O_NOFOLLOW);
    if (!S_ISLNK(facts.st_mode)) return kNone;
    const std::optional<std::filesystem::path> target = target_of_link(place, LinksOf::kThisUserAndRoot);
    if (!target) return Error{place.string() + " is a link of another user, which is not followed. Remove it, or give another name."};
    place = *target;
  }
  return Error{path.string() + " is a link that leads to too many others. Give another name."};
}

}  // namespace lanescope
