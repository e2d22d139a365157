// One end of a link: messages in and out of two descriptors, and how long the other side has been silent.
//
// Only move() waits for the other side, at most for its limit. Raises no SIGPIPE. One thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collector/channel/file_descriptor.h"
#include "collector/remote/message_stream.h"

namespace google::protobuf {
class MessageLite;
}

namespace lanescope::remote {

// write() that never raises SIGPIPE, whatever the program does with that signal: who reads may end at any time.
ssize_t write_quietly(int descriptor, const char* data, std::size_t size);

class Link {
 public:
  // `largest`: limit of the bytes of an incoming message.
  Link(channel::FileDescriptor in, channel::FileDescriptor out, std::size_t largest);

  // Appends the message to what waits to be sent.
  void send(const google::protobuf::MessageLite& message);
  // The same for bytes that are for a program which reads before the other side does.
  void send(std::string_view bytes);
  [[nodiscard]] std::size_t unsent() const noexcept { return unsent_.size() - sent_; }

  // Sends and receives what is possible. Waits, at most for `limit`, until something is, or until an event of `others`.
  void move(std::chrono::milliseconds limit, std::span<pollfd> others = {});
  // The next message that has arrived, even if the link is closed.
  std::optional<std::string> next() { return reader_.next(); }

  // True if nothing more can come, or what comes makes no sense.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_ || !reader_.problem().empty(); }
  [[nodiscard]] const MessageReader& reader() const noexcept { return reader_; }
  // How long nothing has arrived, and how long nothing was sent.
  [[nodiscard]] std::chrono::milliseconds silence() const;
  [[nodiscard]] std::chrono::milliseconds unspoken() const;

 private:
  using Clock = std::chrono::steady_clock;
  void read_some();
  void write_some();

  channel::FileDescriptor in_;
  channel::FileDescriptor out_;
  MessageReader reader_;
  std::string unsent_;
  std::size_t sent_ = 0;
  bool is_closed_ = false;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point spoke_ = Clock::now();
};

}  // namespace lanescope::remote
