// How a session takes over a process that runs already.
#pragma once

namespace lanescope::agent::attach {

// `address` is "fd:N" for a socket of this process that is connected to a session, or "fd:N:PATH" where forked children may join that session at PATH.
// Starts a thread that joins it, takes over what can be recorded, and ends with the session. Returns at once: 0, EINVAL for an address that makes no
// sense, EBADF for a number that is no socket's, EBUSY while another session records this process, is about to, or will from its first event on, or why
// there is no thread. The socket is taken over where the result is 0. `record_cuda` is called once libcuda is in the process, on that thread, for each
// session.
//
// Called on a thread of the target that was stopped at an arbitrary point at which it holds no lock of the C library.
int attach(const char* address, void (*record_cuda)()) noexcept;

// Waits until the session that was attached last is joined and what is loaded is taken over, so that nothing is lost from here on. 0,
// ETIMEDOUT, or ECONNREFUSED where that session does not want us. Any thread of the program; it may be many.
int await_attached(int milliseconds) noexcept;

// In a process that is armed: waits for sessions that connect to it, on a thread of ours. Does nothing in others. Any thread; once counts.
void wait_for_sessions(void (*record_cuda)()) noexcept;

// Ends that thread, and says what is not recorded without it; what has joined goes on being recorded. For a thread that is about to forbid all threads what
// this one does (process/call_filters.h). Returns once the kernel has none, half a second later as a rule. The next attach() starts one again.
void end_service() noexcept;

}  // namespace lanescope::agent::attach
