// Where agents report: a Unix socket in a folder that only we may enter.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "collector/channel/layout.h"
#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

class ControlSocket {
 public:
  // In XDG_RUNTIME_DIR, TMPDIR or /tmp, whichever is there and short enough for a socket's name.
  static Result<ControlSocket> create();
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // removes socket and folder

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  // The next connection that waits, of our own user; those of others are closed. None when none waits. Does not block.
  std::optional<FileDescriptor> accept();

 private:
  ControlSocket() = default;
  FileDescriptor socket_;
  std::filesystem::path path_;
};

// An agent's first words, and whom the kernel says they come from.
struct Greeting {
  pid_t pid = 0;
  channel::Hello hello;
};
enum class GreetingState { kWaiting, kArrived, kRefused };  // refused: it hung up, or speaks another layout
// Does not block.
GreetingState receive_greeting(int connection, Greeting& greeting);

// Sends the answer and, where `memory` is valid, the memory file with it. Returns whether it went out.
bool send_welcome(int connection, const channel::Welcome& welcome, int memory);

}  // namespace lanescope::session
