// This process's membership in a recording: whether there is one, its shared memory, and what becomes of it across fork().
//
// A process joins by itself at most once, at the first event that could be recorded; where there is no session it stays silent until one
// attaches to it. A forked child is a process of its own: it keeps nothing of its parent's membership and joins again at its first event.
// Each fork, and each session that attaches, starts a new generation, by which threads notice that what they hold belongs to another.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "agent/core/lock.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent {

// Increases in the child of every fork, and when another session takes this process over.
extern constinit std::atomic<std::uint32_t> process_generation;

// Joins if that was not tried yet, while other callers wait (two seconds at most). Returns the shared memory, which is empty where there is
// no session.
channel::SharedMemory join_recording() noexcept;

// Leaves the session there was, if any, and joins the one at the other end of `socket`, which is taken over. Forked children will join at
// `path`; where it is empty, at the path that the environment names. False when that session does not want us.
bool join_recording_at(int socket, const char* path) noexcept;

// From here on a forked child is a process of its own; joining sees to that as well. Any number of times.
void watch_forks() noexcept;

// Called, outside of all locks, when this process or a forked child of it has asked for a session and there is none. One for the process.
void on_absence(void (*absent)()) noexcept;

// Whether this process was started to be attached to at any time: NVTX is then taken in while there is no session.
bool is_armed() noexcept;

// The instance number that the session gave this process. Requires: it joined.
std::uint32_t process_instance() noexcept;

// Whether the session still listens. False where none was joined.
bool session_is_alive() noexcept;

// Waits until it does not, at most so long. Returns whether it still listens.
bool session_stays_alive(int milliseconds) noexcept;

// Writes a record into the metadata ring; the thread and the time are set here. Does nothing where there is no session.
void write_metadata(channel::Record record, std::string_view text) noexcept;

// As numbered in trace.proto.
enum class Component : std::uint32_t { kCupti = 1, kNvtx = 2, kOsRuntime = 3 };
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

// Holds the lock while the process forks, so that what it guards is whole in the child, where it is free again. Up to four locks, which are
// taken in the order of these calls; of this header, write_metadata() alone may be called while one is held.
void hold_across_forks(Lock& lock) noexcept;

// Called in every forked child, on its only thread, before fork() returns there; nothing but memory may be touched. Up to four.
void on_fork_child(void (*forget)()) noexcept;

}  // namespace lanescope::agent
