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

// Reports to the session that listens at `path`. None when there is no such session or it refuses. Takes two seconds at most. errno is
// kept.
std::optional<Connection> connect_to_session(const char* path, Ancestry ancestry) noexcept;

// Reports over a socket that is connected to a session, and takes it over. None when it is gone, or the session refuses or says nothing for
// five seconds.
std::optional<Connection> introduce(OwnDescriptor socket, Ancestry ancestry) noexcept;

}  // namespace lanescope::agent
