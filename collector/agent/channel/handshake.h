// How a process joins a recording: one exchange over the session's socket. After it, both sides share memory.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/process/own_descriptor.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent {

struct Connection {
  channel::SharedMemory memory;
  std::uint32_t process_instance = 0;
  OwnDescriptor socket;  // stays open as long as the process lives: its end tells the host that the process is gone
};

enum class Ancestry : std::uint32_t { kOwn = 0, kForked = 1 };  // value of Hello::forked

// The result of an attempt to join.
struct Joining {
  std::optional<Connection> connection;
  int problem = 0;           // errno of what keeps us from a session that may exist and can't know of it; 0: nothing does
  bool lacks_means = false;  // this process has no descriptor, socket or memory for joining, but its forked children may have
};

// Notes the present time as the begin of this process, or of its program, as far as the agent knows. Called while the agent is loaded, and in a forked child.
void note_begin() noexcept;

// Reports to the session at this address (channel::kSocketVariable). No connection if there is no such session or if it refuses. The session has five seconds
// to accept the connection and five to answer. If another user listens at its address, the connection is closed at once, without a message; if user numbers
// differ between this process and the session, the listener has one second. errno is kept.
Joining connect_to_session(const char* address, Ancestry ancestry) noexcept;

// True if somebody listens at this address who may be that session. Does not wait, and sends nothing. errno is kept.
bool session_listens(const char* address) noexcept;

// Leaves a note about a process that can't report, in the file for such notes beside the session's socket. Does nothing if there is no such file. errno is
// kept.
void leave_word_beside(const char* address, int problem) noexcept;

// Reports over a socket that is connected to the session at this address, and takes the socket over. Returns nothing if the session is gone, refuses, or does
// not answer for five seconds. `make_room`: called if this process may have no addresses for the session's memory, before the next attempt.
std::optional<Connection> introduce(OwnDescriptor socket, const char* address, Ancestry ancestry, void (*make_room)()) noexcept;

}  // namespace lanescope::agent
