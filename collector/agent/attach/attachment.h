// How a session takes over a process that is already running.
#pragma once

namespace lanescope::agent::attach {

// `address` is "fd:N" for a socket of this process that is connected to a session, or "fd:N:PATH" if forked children may join that session at PATH. Starts a
// thread that joins the session, takes over what can be recorded, and ends with the session. Returns at once: 0; EINVAL for an invalid address; EBADF for a
// number that is not a socket's; EBUSY while another session records this process, is about to, or will from its first event on; or the reason why there is no
// thread. The socket is taken over if the result is 0. `record_cuda` is called on that thread, for each session, once libcuda is in the process.
//
// Called on a thread of the target that was stopped at an arbitrary point at which it holds no lock of the C library.
int attach(const char* address, void (*record_cuda)()) noexcept;

// Waits until the session that attached last is joined and everything loaded is taken over, so that nothing is lost from here on. Returns 0, ETIMEDOUT, or
// ECONNREFUSED if that session refuses us. Any thread of the program, also several at a time.
int await_attached(int milliseconds) noexcept;

// In a process that is armed, waits on a thread of ours for sessions that connect to it. Does nothing in other processes. Any thread; only the first call
// counts.
void wait_for_sessions(void (*record_cuda)()) noexcept;

// Ends that thread and reports what is not recorded without it; what has joined is still recorded. For a thread that is about to forbid all threads the system
// calls of this one (process/call_filters.h). Returns when the kernel has removed the thread, usually within half a second. The next attach() starts one again.
void end_service() noexcept;

}  // namespace lanescope::agent::attach
