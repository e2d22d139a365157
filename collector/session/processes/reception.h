// Those who have connected to the recording and wait for an answer.
//
// Everything here is done at once or not at all: a visitor that says nothing keeps nobody waiting, and many visitors neither. Of strangers, the newest
// are heard: who shows the token does so as it comes.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "processes/control_socket.h"

namespace lanescope::session {

class Reception {
 public:
  explicit Reception(ControlSocket socket) : socket_(std::move(socket)) {}

  // A connection to an agent that was brought in.
  void add(FileDescriptor connection) { silent_.push_back({std::move(connection), 0}); }

  enum class Outcome {
    kArrived,       // an agent of ours
    kOtherLayout,   // one of another version of Lanescope; it waits, and so can be looked at, until its connection is closed
    kNoDescriptor,  // sent away: we have no descriptor for it; of the greeting, only pid is set
  };
  struct Guest {
    Outcome outcome;
    Greeting greeting;
    FileDescriptor connection;
    channel::Welcome answer{};  // to be filled in; it says already that we are the session
  };
  // Those who have made themselves known since the last call. Who is none of ours is sent away without a word.
  std::vector<Guest> receive();

  // Of agents that can't come.
  [[nodiscard]] std::vector<channel::Word> take_words() { return socket_ ? socket_->take_words() : std::vector<channel::Word>(); }

  // Where agents find us (channel::kSocketVariable); empty once it is closed.
  [[nodiscard]] std::string address() const { return socket_ ? socket_->address() : std::string(); }
  // From here on nobody is let in, and who tries knows at once.
  void close();

  // Whether somebody of ours has connected and not said yet what it is. Strangers, whom anybody can send in any number, keep no recording from its end.
  [[nodiscard]] bool is_somebody_waiting() const noexcept;
  // What to wait for.
  void add_sources(std::vector<pollfd>& sources) const;

 private:
  struct Silent {
    FileDescriptor connection;
    std::int64_t limit;  // CLOCK_MONOTONIC ns until which a stranger is to show our token; 0: it is known
  };
  void let_in(std::vector<Guest>& guests);
  void send_old_strangers_away();

  std::optional<ControlSocket> socket_;  // none once it is closed
  std::vector<Silent> silent_;
};

}  // namespace lanescope::session
