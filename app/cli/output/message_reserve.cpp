#include "output/message_reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "collector/remote/serve.h"

namespace lanescope::cli {

MessageReserve::MessageReserve(std::ostream& stream) : stream_(stream), destination_(STDERR_FILENO) {
  const char* path = std::getenv(remote::kMessageReserve);
  if (path == nullptr) return;
  // Opened now, because there may be no descriptors left later.
  reserve_ = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  unsetenv(remote::kMessageReserve);
  before_ = stream_.rdbuf(this);
}

MessageReserve::~MessageReserve() {
  if (before_ != nullptr) stream_.rdbuf(before_);
  if (reserve_ >= 0) close(reserve_);
}

MessageReserve::int_type MessageReserve::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize MessageReserve::xsputn(const char* text, std::streamsize size) {
  std::streamsize taken = 0;
  while (taken < size) {
    const ssize_t written = write(destination_, text + taken, static_cast<std::size_t>(size - taken));
    if (written >= 0) {
      taken += written;
    } else if (errno != EINTR) {
      if (reserve_ < 0 || destination_ == reserve_) break;
      destination_ = reserve_;  // from now on, so that our messages keep their order
    }
  }
  return taken;
}

}  // namespace lanescope::cli
