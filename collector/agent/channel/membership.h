// This process's membership in a recording: whether there is one, its shared memory, and what becomes of it across fork().
//
// A process joins by itself at most once, at the first event that could be recorded; where there is no session it stays silent until one
// attaches to it. A forked child is a process of its own: it keeps nothing of its parent's membership and joins again at its first event. Until then
// it holds its parent's socket open, so that the session knows that somebody may come, and it knows when the session is over; a child that finds no way leaves
// word of it in its parent's memory.
// Each fork, and each session that attaches, starts a new generation (process/forks.h), by which threads notice that what they hold belongs
// to another.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/process/own_descriptor.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent {

// Remembers what the environment says, while the agent is loaded. Later, another thread may be changing it.
void read_environment() noexcept;

// Joins if that was not tried yet, while other callers wait (ten seconds at most: channel/handshake.h). Returns the shared memory, which is empty where there
// is no session.
channel::SharedMemory join_recording() noexcept;

// Whether this process could not join a session that may be there for lack of what that takes. Its forked children try for themselves, and have to be told of.
bool lacks_means_to_join() noexcept;

// Whether this process is a member. One load.
bool has_joined() noexcept;

// Whether a session is there that this process was started for, and has not come to yet: it joins at its first event. A few system calls.
bool is_awaited_by_session() noexcept;

// Leaves the session there was, if any, and joins the one at the other end of `socket`, which is taken over. Forked children will join at
// `address`; where it is empty, at the one that the environment names. False when that session does not want us.
bool join_recording_at(OwnDescriptor socket, const char* address) noexcept;

// From here on a forked child is no member; joining sees to that as well. Any number of times.
void follow_membership() noexcept;

// Called, outside of all locks, when this process or a forked child of it has asked for a session and there is none. One for the process.
void on_absence(void (*absent)()) noexcept;

// Whether this process was started to be attached to at any time: NVTX is then taken in while there is no session.
bool is_armed() noexcept;

// Whether this is the memory of the session that this process is a member of now. A thread in the midst of an event may have an earlier one's.
bool is_of_session(const channel::SharedHeader& header) noexcept;

// The instance number that the session gave this process. Requires: it joined.
std::uint32_t process_instance() noexcept;

enum class SessionState {
  kNone,     // none was joined, or it does not listen any more
  kAlive,    // it listens
  kUnknown,  // the program has closed the socket by which that is seen
};
SessionState session_state() noexcept;

// Where it does not, its recorder may have been killed, and nobody has said that nothing more is to be recorded: does that.
void fall_silent_without_session() noexcept;

// Waits until it ends, at most so long. Returns whether it may still listen.
bool session_stays_alive(int milliseconds) noexcept;

// Whether nobody listens any more where processes join the session that this one is in, and whose socket the program has closed: SessionState::kUnknown.
// False where that is not so, or can't be seen. A second where all have much to do.
bool session_has_gone() noexcept;

// A time of this process's CLOCK_MONOTONIC on the recorder's, which is another in a time namespace; as it is where there is no session.
std::int64_t event_time(std::int64_t monotonic) noexcept;

// Writes a record into the metadata ring; the thread and the time are set here. Does nothing where there is no session.
void write_metadata(channel::Record record, std::string_view text) noexcept;

// As numbered in trace.proto.
enum class Component : std::uint32_t { kSession = 0, kCupti = 1, kNvtx = 2, kOsRuntime = 3 };
enum class Severity : std::uint8_t { kInformation = 0, kWarning = 1, kError = 2 };
enum class ComponentState : std::uint32_t {
  kRecording = 1,
  kNoDriver = 2,
  kNoLibrary = 3,
  kOwnedByOther = 4,
  kVersionMismatch = 5,
  kNoPermission = 6,
  kFailed = 7,
};

// Tells the user: one sentence, what is wrong and what to do.
void report(Component component, ComponentState state, Severity severity, std::string_view text) noexcept;

// Called in a forked child that joined again, so that it can repeat what its parent's metadata said. One for the process.
void on_rejoin(void (*repeat_metadata)()) noexcept;

}  // namespace lanescope::agent
