#include "model/file/scratch_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace lanescope {

std::filesystem::path scratch_folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/var/tmp";
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<void> ScratchFile::make() {
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return {};
  // Not every file system supports files without names.
  std::string name = (folder_ / ".lanescope.XXXXXX").string();
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) return Error{"A temporary file can't be made in " + folder_.string() + ": " + std::strerror(errno) + "."};
  unlink(name.c_str());
  return {};
}

Result<void> ScratchFile::append(std::span<const std::byte> bytes) {
  if (descriptor_ < 0)
    if (auto made = make(); !made) return made;
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error{"A temporary file in " + folder_.string() + " can't be written: " + std::strerror(errno) + ". " + need_};
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> ScratchFile::lies_on_disk() {
  if (descriptor_ < 0)
    if (auto made = make(); !made) return made;
  struct statfs about {};
  if (fstatfs(descriptor_, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC))
    return Error{"Temporary files in " + folder_.string() + " take memory, not room on a disk. " + need_};
  return {};
}

Result<void> ScratchFile::sync() {
  if (descriptor_ < 0 || fdatasync(descriptor_) == 0) return {};
  return Error{"A temporary file in " + folder_.string() + " can't be written: " + std::strerror(errno) + ". " + need_};
}

Result<void> ScratchFile::map_over(std::span<std::byte> memory, std::uint64_t offset) const {
  // A direct system call, because ThreadSanitizer would treat mmap() as a write to memory that other threads read.
  const long mapped = syscall(SYS_mmap, memory.data(), memory.size(), PROT_READ, MAP_SHARED | MAP_FIXED, descriptor_, static_cast<off_t>(offset));
  if (mapped != -1) return {};
  return Error{"A temporary file in " + folder_.string() + " can't be mapped: " + std::strerror(errno) + ". " + need_};
}

void ScratchFile::forget(std::uint64_t offset, std::uint64_t bytes) noexcept {
  static_cast<void>(fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes)));
}

void ScratchFile::cut(std::uint64_t size) noexcept {
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return;
  size_ = size;
}

Result<void> ScratchFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t bytes = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return Error{"A temporary file in " + folder_.string() + " can't be read back: " + std::strerror(bytes < 0 ? errno : EIO) + "."};
    into = into.subspan(static_cast<std::size_t>(bytes));
    offset += static_cast<std::uint64_t>(bytes);
  }
  return {};
}

}  // namespace lanescope
