#include "here/local_copy.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lanescope::remote {
namespace {

constexpr std::uint64_t kWorthReplacing = 16u << 10;  // bytes: more than a recording takes in which nothing happened

Error not_written(const std::filesystem::path& path) {
  return {path.string() + " can't be written: " + std::strerror(errno) + ". Free some space, or name another disk with -o."};
}

}  // namespace

Result<LocalCopy> LocalCopy::create(const std::filesystem::path& path, Overwrite overwrite, Readers readers) {
  Result<NewFile> file = NewFile::create(path, overwrite, readers);
  if (!file) return file.error();
  flock(file->descriptor(), LOCK_EX | LOCK_NB);  // fails on a file system without locks; this makes no difference
  std::error_code missing;
  const bool replaces = std::filesystem::exists(file->path(), missing);
  return LocalCopy(std::move(*file), replaces ? kWorthReplacing : 1);
}

Result<LocalCopy> LocalCopy::go_on(const std::filesystem::path& path) {
  Result<NewFile> file = NewFile::reopen(path);
  if (!file) return file.error();
  struct stat facts {};
  if (flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{path.string() + " is being written by another program. Give another name with -o."};
  LocalCopy copy(std::move(*file), 0);
  if (fstat(copy.file_.descriptor(), &facts) == 0 && copy.sums_.append_file(copy.file_.descriptor(), static_cast<std::uint64_t>(facts.st_size))) return copy;
  return Error{path.string() + " can't be read: " + std::strerror(errno) + ". Give another name with -o."};
}

Result<void> LocalCopy::cut(std::uint64_t size) {
  const int descriptor = file_.descriptor();
  if (sums_.cut(size, descriptor) && ftruncate(descriptor, static_cast<off_t>(size)) == 0) return {};
  return not_written(path());
}

Result<void> LocalCopy::append(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::uint64_t at = sums_.size() + (bytes.size() - rest.size());
    const ssize_t written = pwrite(file_.descriptor(), rest.data(), rest.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const Error error = not_written(path());
      static_cast<void>(ftruncate(file_.descriptor(), static_cast<off_t>(sums_.size())));
      return error;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  sums_.append(bytes);
  return is_in_place() || sums_.size() < worth_ ? Result<void>() : file_.take_place(NewFile::LockOfPlace::kOthers, NewFile::Replaced::kSetAside);
}

Result<void> LocalCopy::finish() {
  if (!is_in_place()) return file_.take_place();
  if (!is_where_it_was()) return Error{path().string() + " was removed or replaced while it was copied."};
  // A network file system may report only now that there is no room.
  if (fsync(file_.descriptor()) != 0 && errno != EINVAL) return not_written(path());
  file_.remove_set_aside();
  return {};
}

bool LocalCopy::is_where_it_was() const {
  struct stat ours {};
  struct stat theirs {};
  return fstat(file_.descriptor(), &ours) == 0 && lstat(path().c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

void LocalCopy::discard() {
  file_.put_back();
  if (is_in_place() && is_where_it_was()) unlink(path().c_str());
}

}  // namespace lanescope::remote
