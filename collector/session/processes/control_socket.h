// Where agents report: a Unix socket in a folder that only we may enter, and one without a place in the file system for programs that
// have lost sight of that folder, or the right to enter it (chroot, setuid). Anybody may connect to that one: what counts there is the token
// that stands in the session's address, which its own programs alone are given.
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
  // In XDG_RUNTIME_DIR, TMPDIR or /tmp, whichever is there and short enough for a socket's name. For agents of another user it lies in
  // /tmp, for our own folders may be closed to others, and that user may connect to it.
  static Result<ControlSocket> create(std::optional<uid_t> agents_user = {});
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // removes socket and folder

  // For agents: channel::kSocketVariable.
  [[nodiscard]] std::string address() const;
  // Readable when somebody waits; -1 where that is not to be waited for (see accept()).
  [[nodiscard]] std::array<int, 2> descriptors() const noexcept;

  struct Visitor {
    FileDescriptor connection;  // invalid: we have no descriptor left, so it was sent away
    pid_t pid = 0;              // as the kernel says
    bool is_known = false;      // of our own user or the agents'; others have to show the token
  };
  // The next one that waits. None when none waits, or where the system lends no descriptor even to send it away: descriptors() are -1 then
  // until the next call. Does not block.
  std::optional<Visitor> accept();
  // What agents that may have no socket have left in the file beside it since the last call, or as links where they have no descriptor for that either; some
  // thousand words in all. Does not block.
  [[nodiscard]] std::vector<channel::Word> take_words();
  // Whether somebody shows the half of the token by which programs of ours are known.
  [[nodiscard]] bool is_our_token(const char (&half)[channel::kTokenHalf]) const noexcept;
  // Adds the half by which they know us.
  void sign(channel::Welcome& welcome) const noexcept;

 private:
  ControlSocket() = default;
  void take_links(std::vector<channel::Word>& words);
  std::array<FileDescriptor, 2> sockets_;  // the second has an abstract name
  FileDescriptor folder_;                  // locked: nobody takes it for one that a killed recorder left
  FileDescriptor spare_;                   // given up to send somebody away
  FileDescriptor words_;
  std::int64_t words_taken_ = 0;  // bytes
  std::size_t links_taken_ = 0;
  std::int64_t folder_changed_ = 0;  // ns since 1970: the folder's time at the last look
  std::filesystem::path path_;
  std::string token_;
  uid_t agents_user_ = 0;
  bool is_clogged_ = false;  // somebody waits who can't be accepted
};

// An agent's first words, and whom the kernel says they come from.
struct Greeting {
  pid_t pid = 0;
  channel::Hello hello{};
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

// Why a process with such an agent is not recorded: "its agent is of another version of Lanescope (0.1.0, ..."
std::string other_layout_reason(const Greeting& greeting);

// Whether whoever held the other end of a connection has closed it, or ended. Does not block, and takes nothing that has come.
bool has_hung_up(int connection);

// Sends the answer and, where `memory` is valid, the memory file with it. Returns whether it went out.
bool send_welcome(int connection, const channel::Welcome& welcome, int memory);

}  // namespace lanescope::session
