// Where agents report: a Unix socket in a folder that only we may enter, and an abstract socket for programs that no longer see that folder, or may not enter
// it (chroot, setuid). Anybody may connect to the abstract one. Visitors of it must show the token from the session's address, which only the session's own
// programs are given.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collector/channel/layout.h"
#include "file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::session {

class ControlSocket {
 public:
  // Makes the socket in XDG_RUNTIME_DIR, TMPDIR or /tmp: the first that exists and is short enough for a socket's name. For agents of another user it is in
  // /tmp, because our own folders may be closed to others, and that user may connect to it.
  static Result<ControlSocket> create(std::optional<uid_t> agents_user = {});
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // removes socket and folder

  // The address for agents: channel::kSocketVariable.
  [[nodiscard]] std::string address() const;
  // Readable if somebody waits; -1 if they must not be waited for (see accept()).
  [[nodiscard]] std::array<int, 2> descriptors() const noexcept;

  struct Visitor {
    FileDescriptor connection;  // invalid: we have no descriptor left, and the visitor was sent away
    pid_t pid = 0;              // from the kernel
    bool is_known = false;      // it is of our own user or the agents'; others must show the token
  };
  // The next visitor that waits. Nothing if none waits, or if the system has no descriptor even to send it away: descriptors() are -1 then until the next
  // call. Does not block.
  std::optional<Visitor> accept();
  // What agents that can't have a socket have left since the last call: in the file beside the socket, or as links if they have no descriptor for the file
  // either. At most some thousand words in total. Does not block.
  [[nodiscard]] std::vector<channel::Word> take_words();
  // True if `half` is the half of the token by which programs of ours are recognized.
  [[nodiscard]] bool is_our_token(const char (&half)[channel::kTokenHalf]) const noexcept;
  // Adds the half by which they recognize us.
  void sign(channel::Welcome& welcome) const noexcept;

 private:
  ControlSocket() = default;
  void take_links(std::vector<channel::Word>& words);
  std::array<FileDescriptor, 2> sockets_;  // the second has an abstract name
  FileDescriptor folder_;                  // locked, so that nobody takes it for a folder that a killed recorder left
  FileDescriptor spare_;                   // closed in order to send somebody away
  FileDescriptor words_;
  std::int64_t words_taken_ = 0;  // bytes
  std::size_t links_taken_ = 0;
  std::int64_t folder_changed_ = 0;  // ns since 1970: the folder's time at the last look
  std::filesystem::path path_;
  std::string token_;
  uid_t agents_user_ = 0;
  bool is_clogged_ = false;  // a visitor waits that can't be accepted
};

// An agent's first words, and the process that sent them, from the kernel.
struct Greeting {
  pid_t pid = 0;
  channel::Hello hello{};
};
enum class GreetingState {
  kWaiting,
  kArrived,
  kRefused,      // it closed the connection, or is no agent
  kOtherLayout,  // it is of another version of Lanescope; only pid, layout_version and agent_version of the greeting are valid
};
// Does not block.
GreetingState receive_greeting(int connection, Greeting& greeting);

// Waits for an agent's first words, at most for `limit`, and leaves them to be received. Fails with one sentence if none come, or if they come from an agent
// that does not understand us.
Result<void> await_greeting(int connection, pid_t pid, std::chrono::milliseconds limit);

// Why a process with such an agent is not recorded: "its agent is of another version of Lanescope (0.1.0, ..."
std::string other_layout_reason(const Greeting& greeting);

// True if whoever held the other end of a connection has closed it, or ended. Does not block, and does not consume what has come.
bool has_hung_up(int connection);

// Sends the answer and, if `memory` is valid, the memory file with it. Returns true if it was sent.
bool send_welcome(int connection, const channel::Welcome& welcome, int memory);

}  // namespace lanescope::session
