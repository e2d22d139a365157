// Signal handlers of the agent's own, which the program does not see: by its calls of sigaction() and its kin it is told, and sets, what it would be told
// and would set without us. So a crash reporter that is installed where nobody has one is installed.
//
// Calls come to the agent where it is preloaded (osrt/handler_calls.cpp), and else from the files that were loaded when it looked last
// (core/loader/call_slots.h). An action that the program sets replaces ours; where it sets again what stood there before ours, ours stands before that again.
//
// Threads: any; all may be called in a signal handler and in the child of a fork.
#pragma once

#include <array>
#include <csignal>

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent {

using SignalAction = struct sigaction;

// sigaction() of the C library.
int set_action(int signal, const SignalAction* action, SignalAction* before) noexcept;

bool is_default(const SignalAction& action) noexcept;

// Sets an action of ours (sa_sigaction) for this signal, and remembers what stood there. Returns whether it was set: not where the program has set
// another meanwhile. Once for each signal.
bool stand_before(int signal, const SignalAction& own, const SignalAction& before) noexcept;

// What stood there before ours. Requires: stand_before() was called for this signal.
const SignalAction& action_before(int signal) noexcept;

// What calls of the program do.
int program_sigaction(int signal, const SignalAction* action, SignalAction* before) noexcept;
sighandler_t program_signal(int signal, sighandler_t handler) noexcept;       // also bsd_signal(), ssignal()
sighandler_t program_sysv_signal(int signal, sighandler_t handler) noexcept;  // also signal() of strict ISO C programs
sighandler_t program_sigset(int signal, sighandler_t handler) noexcept;

// For calls that found the C library's.
std::array<Redirection, 8> handler_redirections() noexcept;

}  // namespace lanescope::agent
