// This process's membership in a recording: whether it is a member, its shared memory, and what happens to it across fork().
//
// A process joins by itself at most once, at the first event that could be recorded. If there is no session, it stays silent until one attaches to it. A forked
// child is a process of its own: it keeps nothing of its parent's membership and joins again at its first event. Until then it holds its parent's socket open,
// so that the session knows that somebody may come, and the child knows when the session is over. A child that can't join leaves a note in its parent's memory.
// Each fork, and each session that attaches, starts a new generation (process/forks.h), by which threads notice that what they hold belongs to an earlier one.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/process/own_descriptor.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent {

// Reads the environment. Call it while the agent is loaded, because later another thread may be changing the environment.
void read_environment() noexcept;

// Joins if that was not tried yet; other callers wait in the meantime, at most ten seconds (channel/handshake.h). Returns the shared memory, which is empty if
// there is no session.
channel::SharedMemory join_recording() noexcept;

// Tells the session, without a system call that a filter forbids, that this process is about to become a program that is left alone because of its filter
// (process/earlier_filters.h). Does nothing if it is no member.
void tell_of_program_left_alone() noexcept;

// True if this process could not join a session that may exist because it lacks the means. Its forked children try for themselves, so the session must be told.
bool lacks_means_to_join() noexcept;

// True if this process is a member. One load.
bool has_joined() noexcept;

// True if there is a session that this process was started for and has not joined yet: it joins at its first event. A few system calls.
bool is_awaited_by_session() noexcept;

// Leaves the present session, if any, and joins the one at the other end of `socket`, which is taken over. Forked children will join at `address`, or, if that
// is empty, at the address that the environment names. False if that session refuses us.
bool join_recording_at(OwnDescriptor socket, const char* address) noexcept;

// From here on a forked child is no member; joining has the same effect. May be called any number of times.
void follow_membership() noexcept;

// Called, with no lock held, when this process or a forked child of it has looked for a session and there is none. One per process.
void on_absence(void (*absent)()) noexcept;

// True if this process was started so that sessions can attach to it at any time: NVTX is then taken over even without a session.
bool is_armed() noexcept;

// True if this is the memory of the session that this process is a member of now. A thread that is writing an event may have the memory of an earlier one.
bool is_of_session(const channel::SharedHeader& header) noexcept;

// The instance number that the session gave this process. Requires: it joined.
std::uint32_t process_instance() noexcept;

enum class SessionState {
  kNone,     // none was joined, or it no longer listens
  kAlive,    // it listens
  kUnknown,  // the program has closed the socket that shows the state
};
SessionState session_state() noexcept;

// If the session no longer listens, its recorder may have been killed, and nobody has said that nothing more is to be recorded: this function does that.
void fall_silent_without_session() noexcept;

// Waits until the session ends, at most this long. Returns true if it may still listen.
bool session_stays_alive(int milliseconds) noexcept;

// For SessionState::kUnknown: this process is in a session whose socket the program has closed. True if nobody listens any more at the address where processes
// join that session. False if somebody does, or if that can't be seen. May take a second on a busy machine.
bool session_has_gone() noexcept;

// Converts a time of this process's CLOCK_MONOTONIC to the recorder's, which differs in a time namespace. Unchanged if there is no session.
std::int64_t event_time(std::int64_t monotonic) noexcept;

// Writes a record into the metadata ring; sets its thread and time. Does nothing if there is no session.
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
enum class DiagnosticKind : std::uint8_t { kOther = 1, kLoss = 2, kKernelCounters = 4 };

// Tells the user one sentence: what is wrong and what to do.
void report(Component component, ComponentState state, Severity severity, std::string_view text, DiagnosticKind kind = DiagnosticKind::kOther) noexcept;

// Called in a forked child that has joined again, so that it can repeat its parent's metadata. One per process.
void on_rejoin(void (*repeat_metadata)()) noexcept;

}  // namespace lanescope::agent
