// How a process joins a recording: one exchange over the session's socket, after which both sides share memory.
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

enum class Ancestry : std::uint32_t { kOwn = 0, kForked = 1 };  // of Hello::forked

// What came of it.
struct Joining {
  std::optional<Connection> connection;
  int problem = 0;           // errno of what lay between us and a session that may be there and can't know of it; 0: none did
  bool lacks_means = false;  // this process has no descriptor, no socket or no memory for it, which its forked children may have
};

// Takes note of the time as that at which this process began, or its program did, as far as the agent knows: while it is loaded, and in a forked child.
void note_begin() noexcept;

// Reports to the session at this address (channel::kSocketVariable). No connection when there is no such session or it refuses. The session has five
// seconds for each of taking the connection and answering. Another user who listens at its address is left at once, without a word; where users have
// other numbers for this process than for the session, who listens there has a second. errno is kept.
Joining connect_to_session(const char* address, Ancestry ancestry) noexcept;

// Whether somebody listens at this address who may be that session. Waits for nobody, and says nothing there. errno is kept.
bool session_listens(const char* address) noexcept;

// Leaves word of a process that can't report, in the file for that beside the session's socket. Where there is none, it does nothing. errno is kept.
void leave_word_beside(const char* address, int problem) noexcept;

// Reports over a socket that is connected to the session at this address, and takes it over. None when it is gone, or the session refuses
// or says nothing for five seconds. `make_room`: called where this process may have no addresses for the session's memory, before that is tried again.
std::optional<Connection> introduce(OwnDescriptor socket, const char* address, Ancestry ancestry, void (*make_room)()) noexcept;

}  // namespace lanescope::agent
