#include "agent/channel/unfinished.h"

#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <sys/stat.h>

#include "agent/core/file_room.h"
#include "agent/core/system_calls.h"
#include "collector/channel/layout.h"

namespace lanescope::agent {
namespace {

constexpr std::size_t kChunkBytes = 4'096;

struct Path {
  std::size_t size;
  char text[channel::kAddressBytes + sizeof(channel::kWordSuffix)];
};

// Takes the variables of /proc/self/environ one character after the other.
class SessionPath {
 public:
  explicit SessionPath(Path& path) noexcept : path_(path) { path_.size = 0; }

  // Returns true if the path is there, whole.
  bool take(char letter) noexcept {
    const bool is_end = letter == '\0' || letter == channel::kTokenMark;
    if (matched_ == kVariable) {
      if (is_end) return true;
      if (path_.size + 1 < channel::kAddressBytes) path_.text[path_.size++] = letter;
      return false;
    }
    if (letter == '\0') {
      matched_ = 0;
      is_other_ = false;
    } else if (!is_other_ && letter == (matched_ + 1 == kVariable ? '=' : channel::kSocketVariable[matched_])) {
      ++matched_;
    } else {
      is_other_ = true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kVariable = sizeof(channel::kSocketVariable);  // with the equals sign

  Path& path_;
  std::size_t matched_ = 0;  // letters
  bool is_other_ = false;    // than the one that is looked for
};

bool find_session(Path& path, char (&chunk)[kChunkBytes]) noexcept {
  const int file = system::open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  SessionPath session(path);
  bool is_found = false;
  for (long size = 0; !is_found && (size = system::read(file, chunk, kChunkBytes)) > 0;)
    for (long i = 0; i < size && !is_found; ++i) is_found = session.take(chunk[i]);
  system::close(file);
  for (std::size_t i = 0; is_found && i < sizeof(channel::kWordSuffix); ++i) path.text[path.size + i] = channel::kWordSuffix[i];
  return is_found && path.size != 0;
}

}  // namespace

void leave_word_of_unfinished() noexcept {
  char chunk[kChunkBytes];
  Path path;
  if (!find_session(path, chunk)) return;
  channel::Word word{system::process_id(), ELIBACC, {}};
  const int name = system::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  const long size = system::read(name, word.program, sizeof(word.program) - 1);
  for (std::size_t i = 0; i < sizeof(word.program); ++i)
    if (static_cast<long>(i) >= size || word.program[i] == '\n') word.program[i] = '\0';
  system::close(name);
  const int file = system::open(path.text, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  constexpr off_t kMostBytes = channel::kMostWords * sizeof(word);
  struct stat status;
  const bool is_for_words = system::file_status(file, status) && S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_size < kMostBytes;
  if (is_for_words && may_write_up_to(status.st_size + static_cast<off_t>(sizeof(word)))) system::write(file, &word, sizeof(word));
  system::close(file);
}

}  // namespace lanescope::agent
