#include "byte_queue.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace lanescope::gpu_metrics {
namespace {

int open_nameless(const std::filesystem::path& folder) {
  if (const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0) return file;
  std::string name = (folder / "lanescope-samples-XXXXXX").string();  // for a file system that does not support O_TMPFILE
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) unlink(name.c_str());
  return file;
}

std::filesystem::path usual_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

template <typename Transfer>
bool transfer_all(std::size_t size, Transfer transfer) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = transfer(done);
    if (count <= 0 && !(count < 0 && errno == EINTR)) return false;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

ByteQueue::~ByteQueue() {
  if (file_ >= 0) close(file_);
}

bool ByteQueue::put(std::span<const std::byte> piece) {
  if (in_memory_ + piece.size() <= limits_.memory) {
    in_memory_ += piece.size();
    pieces_.push_back({{piece.begin(), piece.end()}, 0, piece.size()});
    return true;
  }
  if (!write_to_file(piece)) return false;
  pieces_.push_back({{}, file_end_, piece.size()});
  file_end_ += piece.size();
  in_file_ += piece.size();
  return true;
}

bool ByteQueue::write_to_file(std::span<const std::byte> piece) {
  if (in_file_ + piece.size() > limits_.file) return false;
  if (file_ < 0) file_ = open_nameless(limits_.folder.empty() ? usual_folder() : limits_.folder);
  struct statvfs disk {};
  if (file_ < 0 || fstatvfs(file_, &disk) != 0) return false;
  if (static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < in_file_ + 2 * piece.size()) return false;
  return transfer_all(piece.size(),
                      [&](std::size_t done) { return pwrite(file_, piece.data() + done, piece.size() - done, static_cast<off_t>(file_end_ + done)); });
}

bool ByteQueue::take(std::vector<std::byte>& piece) {
  Piece oldest = std::move(pieces_.front());
  pieces_.pop_front();
  if (!oldest.bytes.empty() || oldest.size == 0) {
    in_memory_ -= oldest.size;
    piece = std::move(oldest.bytes);
    return true;
  }
  piece.resize(oldest.size);
  const bool whole = transfer_all(
      oldest.size, [&](std::size_t done) { return pread(file_, piece.data() + done, oldest.size - done, static_cast<off_t>(oldest.offset + done)); });
  in_file_ -= oldest.size;
  if (in_file_ == 0) {
    file_end_ = 0;
    [[maybe_unused]] const int emptied = ftruncate(file_, 0);  // if this fails, the next pieces overwrite the old content
  } else {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(oldest.offset), static_cast<off_t>(oldest.size));
  }
  return whole;
}

}  // namespace lanescope::gpu_metrics
