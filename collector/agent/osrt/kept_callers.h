// Functions of the C library that find their caller on the stack as without us: dlopen(), whose caller decides where it looks, and
// syscall(), which may return on another stack. Timed are calls of dlopen() for whose outcome the caller does not matter
// (caller_matters.h), and waits by futex. x86-64 alone.
#pragma once

#include <array>

#include "agent/osrt/call_slots.h"

namespace lanescope::agent::osrt {

// Looks the real ones up: while the library is loaded.
void find_kept_callers() noexcept;

// For a process that runs already; empty elsewhere.
std::array<Redirection, 2> redirected_kept_callers() noexcept;

}  // namespace lanescope::agent::osrt
