#include "collector/session/distant_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace lanescope::session {
namespace {

constexpr std::uint64_t kMostUntaken = 16u << 20;  // bytes of a stream: more than is on its way to a reader without delay

std::filesystem::path& note_of_reader() {
  static std::filesystem::path note;
  return note;
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

void print_for_distant_reader(std::filesystem::path note) { note_of_reader() = std::move(note); }

channel::FileDescriptor open_distant_reading() {
  if (note_of_reader().empty()) return {};
  return channel::FileDescriptor(open(note_of_reader().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
}

DistantReadingLook::DistantReadingLook(int note) noexcept {
  if (note < 0) return;
  if (pread(note, &reading_, sizeof(reading_), 0) != sizeof(reading_)) reading_ = {};
  struct flock lock = whole_file();
  is_kept_ = fcntl(note, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool DistantReadingLook::must_wait(std::size_t stream, std::uint64_t printed) const noexcept {
  return is_kept_ && !has_left(stream) && printed > reading_.taken[stream] && printed - reading_.taken[stream] > kMostUntaken;
}

DistantReadingKeeper::DistantReadingKeeper(const std::filesystem::path& note) : note_(open(note.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)) { keep(); }

bool DistantReadingKeeper::keep() noexcept {
  struct flock lock = whole_file();
  is_kept_ = is_kept_ || (note_.valid() && fcntl(note_.get(), F_OFD_SETLK, &lock) == 0);
  return is_kept_;
}

void DistantReadingKeeper::write(const DistantReading& reading) noexcept {
  if (keep()) static_cast<void>(pwrite(note_.get(), &reading, sizeof(reading), 0));
}

}  // namespace lanescope::session
