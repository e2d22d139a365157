// Functions of the C library that must find their caller on the stack as without us: dlopen() and dlsym(), whose caller decides where they look, and syscall(),
// which may return on another stack. Timed are calls of dlopen() for which the caller does not matter (caller_matters.h), and waits by futex. Before a system
// call that makes another program of the process, the agent hands over the data that it holds. Only for x86-64.
#pragma once

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent::osrt {

// Looks the real ones up; call it while the library is loaded.
void find_kept_callers() noexcept;

// For these functions, in files whose calls were bound to others; null functions on other processors.
struct KeptCallers {
  Redirection dlopen;
  Redirection dlsym;
  Redirection syscall;
};
KeptCallers redirected_kept_callers() noexcept;

}  // namespace lanescope::agent::osrt
