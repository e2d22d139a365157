// Signal handlers of the agent's own, which the program does not see: its calls of sigaction() and related functions return and set what they would without us.
// So a crash reporter that installs itself only if there is no handler is installed.
//
// Calls come to the agent if it is preloaded (osrt/handler_calls.cpp), otherwise from the files that were loaded at its last look (core/loader/call_slots.h).
// An action that the program sets replaces ours. If the program restores the action that was there before ours, ours stands before it again.
//
// Threads: any; all functions may be called in a signal handler and in the child of a fork.
#pragma once

#include <array>
#include <csignal>

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent {

using SignalAction = struct sigaction;

// sigaction() of the C library.
int set_action(int signal, const SignalAction* action, SignalAction* before) noexcept;

bool is_default(const SignalAction& action) noexcept;

// Sets an action of ours (sa_sigaction) for this signal and remembers the one that was there. Returns false if the program has set another one in the meantime.
// Once for each signal.
bool stand_before(int signal, const SignalAction& own, const SignalAction& before) noexcept;

// The action that was there before ours. Requires: stand_before() was called for this signal.
const SignalAction& action_before(int signal) noexcept;

// Implementations of the program's calls.
int program_sigaction(int signal, const SignalAction* action, SignalAction* before) noexcept;
sighandler_t program_signal(int signal, sighandler_t handler) noexcept;       // also bsd_signal(), ssignal()
sighandler_t program_sysv_signal(int signal, sighandler_t handler) noexcept;  // also signal() of strict ISO C programs
sighandler_t program_sigset(int signal, sighandler_t handler) noexcept;

// For files whose calls were bound to the C library's functions.
std::array<Redirection, 8> handler_redirections() noexcept;

}  // namespace lanescope::agent
