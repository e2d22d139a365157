// Where agents report: a Unix socket in a folder that only we may enter.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "collector/channel/layout.h"
#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

class ControlSocket {
 public:
  // In XDG_RUNTIME_DIR, TMPDIR or /tmp, whichever is there and short enough for a socket's name. For agents of another user it lies in
  // /tmp, for our own folders may be closed to others, and that user may connect to it.
  static Result<ControlSocket> create(std::optional<uid_t> agents_user = {});
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // removes socket and folder

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  // The next connection that waits, of our own user or the agents'; those of others are closed. None when none waits. Does not block.
  std::optional<FileDescriptor> accept();

 private:
  ControlSocket() = default;
  FileDescriptor socket_;
  FileDescriptor folder_;
  std::filesystem::path path_;
  uid_t agents_user_ = 0;
};

// An agent's first words, and whom the kernel says they come from.
struct Greeting {
  pid_t pid = 0;
  channel::Hello hello;
};
enum class GreetingState {
  kWaiting,
  kArrived,
  kRefused,      // it hung up, or is no agent
  kOtherLayout,  // it is of another version of Lanescope; only pid, layout_version and agent_version of the greeting mean something
};
// Does not block.
GreetingState receive_greeting(int connection, Greeting& greeting);

// Waits for an agent's first words, at most so long, and leaves them to be received. Fails with one sentence when none come, or from an
// agent that does not understand us.
Result<void> await_greeting(int connection, pid_t pid, std::chrono::milliseconds limit);

// "The agent in process 4711 is of another version of Lanescope (0.1.0; ours is 0.2.0), ..."
std::string other_layout_text(const Greeting& greeting);

// Sends the answer and, where `memory` is valid, the memory file with it. Returns whether it went out.
bool send_welcome(int connection, const channel::Welcome& welcome, int memory);

}  // namespace lanescope::session
