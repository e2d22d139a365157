// One end of a link: messages in and out of two descriptors, and how long the other side has been silent.
//
// Nothing here waits for the other side but move(), and that as long as it is told. Raises no SIGPIPE. One thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "collector/channel/file_descriptor.h"
#include "collector/remote/message_stream.h"

namespace google::protobuf {
class MessageLite;
}

namespace lanescope::remote {

class Link {
 public:
  // `largest`: bytes of a message that may come.
  Link(channel::FileDescriptor in, channel::FileDescriptor out, std::size_t largest);

  // Puts it behind what waits to be sent.
  void send(const google::protobuf::MessageLite& message);
  [[nodiscard]] std::size_t unsent() const noexcept { return unsent_.size() - sent_; }

  // Moves what can be moved; waits, at most so long, for something that can, and for what the others are polled for.
  void move(std::chrono::milliseconds limit, std::span<pollfd> others = {});
  // The next message that has come, also of a link that is closed.
  std::optional<std::string> next() { return reader_.next(); }

  // Nothing comes any more, or nothing that makes sense.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_ || !reader_.problem().empty(); }
  [[nodiscard]] const MessageReader& reader() const noexcept { return reader_; }
  // How long nothing has come; and nothing was sent.
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
