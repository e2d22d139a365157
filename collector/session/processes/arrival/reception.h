// Visitors that have connected to the recording and wait for an answer.
//
// Nothing here waits: neither a silent visitor nor many visitors can delay others. Of strangers, the newest are heard, because a program that has the token
// shows it as soon as it connects.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "processes/arrival/control_socket.h"

namespace lanescope::session {

class Reception {
 public:
  explicit Reception(ControlSocket socket) : socket_(std::move(socket)) {}

  // Adds a connection to an agent that we brought into a process.
  void add(FileDescriptor connection) { silent_.push_back({std::move(connection), 0}); }

  enum class Outcome {
    kArrived,       // an agent of ours
    kOtherLayout,   // an agent of another version of Lanescope; its process waits until its connection is closed, so that it can be examined
    kNoDescriptor,  // sent away: we have no descriptor for it; only pid of the greeting is set
  };
  struct Guest {
    Outcome outcome;
    Greeting greeting;
    FileDescriptor connection;
    channel::Welcome answer{};  // to be completed; it identifies us already
  };
  // Visitors that have introduced themselves since the last call. A visitor that is not ours is sent away without an answer.
  std::vector<Guest> receive();

  // Words of agents that can't connect.
  [[nodiscard]] std::vector<channel::Word> take_words() { return socket_ ? socket_->take_words() : std::vector<channel::Word>(); }

  // Where agents find us (channel::kSocketVariable); empty once it is closed.
  [[nodiscard]] std::string address() const { return socket_ ? socket_->address() : std::string(); }
  // From here on nobody is accepted, and attempts to connect fail at once.
  void close();

  // True if a visitor of ours has connected and not introduced itself yet. Strangers do not count, because anybody could delay a recording's end with them.
  [[nodiscard]] bool is_somebody_waiting() const noexcept;
  // Adds what to wait for.
  void add_sources(std::vector<pollfd>& sources) const;

 private:
  struct Silent {
    FileDescriptor connection;
    std::int64_t limit;  // CLOCK_MONOTONIC ns until which a stranger must show our token; 0: it is known
  };
  void let_in(std::vector<Guest>& guests);
  void send_old_strangers_away();

  std::optional<ControlSocket> socket_;  // none once it is closed
  std::vector<Silent> silent_;
};

}  // namespace lanescope::session
