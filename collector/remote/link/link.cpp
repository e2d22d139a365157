#include "link/link.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <google/protobuf/message_lite.h>

namespace lanescope::remote {
namespace {

void set_nonblocking(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

bool must_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

ssize_t write_quietly(int descriptor, const char* data, std::size_t size) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  sigpending(&pending);
  const ssize_t written = write(descriptor, data, size);
  const int problem = errno;
  if (written < 0 && problem == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    while (sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = problem;
  return written;
}

Link::Link(channel::FileDescriptor in, channel::FileDescriptor out, std::size_t largest) : in_(std::move(in)), out_(std::move(out)), reader_(largest) {
  set_nonblocking(in_.get());
  set_nonblocking(out_.get());
}

void Link::send(const google::protobuf::MessageLite& message) {
  std::string framed;
  append_message(framed, message.SerializeAsString());
  send(framed);
}

void Link::send(std::string_view bytes) {
  if (!out_.valid()) return;
  if (sent_ == unsent_.size()) {
    unsent_.clear();
    sent_ = 0;
  }
  unsent_ += bytes;
  spoke_ = Clock::now();
}

void Link::read_some() {
  std::array<char, 64u << 10> piece;
  const ssize_t size = read(in_.get(), piece.data(), piece.size());
  if (size < 0 && must_wait()) return;
  if (size <= 0) {
    is_closed_ = true;
    return;
  }
  heard_ = Clock::now();
  reader_.feed({piece.data(), static_cast<std::size_t>(size)});
}

void Link::write_some() {
  const ssize_t size = write_quietly(out_.get(), unsent_.data() + sent_, unsent_.size() - sent_);
  if (size > 0) {
    sent_ += static_cast<std::size_t>(size);
    spoke_ = Clock::now();
  } else if (size < 0 && !must_wait()) {
    // Nobody reads; what was sent to us before may still arrive.
    sent_ = unsent_.size();
    out_.reset();
  }
}

void Link::move(std::chrono::milliseconds limit, std::span<pollfd> others) {
  std::vector<pollfd> watched(others.begin(), others.end());
  const bool writes = unsent() > 0 && out_.valid();
  watched.push_back({is_closed() ? -1 : in_.get(), POLLIN, 0});
  watched.push_back({writes ? out_.get() : -1, POLLOUT, 0});
  poll(watched.data(), watched.size(), static_cast<int>(limit.count()));
  std::copy_n(watched.begin(), others.size(), others.begin());
  if (watched[others.size()].revents != 0) read_some();
  if (watched[others.size() + 1].revents != 0) write_some();
}

std::chrono::milliseconds Link::silence() const { return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - heard_); }
std::chrono::milliseconds Link::unspoken() const { return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - spoke_); }

}  // namespace lanescope::remote
