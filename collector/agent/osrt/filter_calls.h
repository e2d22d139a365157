// The calls by which a process forbids itself system calls, prctl() and syscall(): it joins the recording before, sets NVTX up, and remembers what it
// must not do any more (process/call_filters.h). A thread that enters the strict mode is left alone.
#pragma once

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent::osrt {

// Of syscall(number, first, ...).
bool installs_filter(long number, long first) noexcept;

// Does what the call does, by `next`, which is syscall(). Requires: installs_filter(number, a).
long install_filter(long (*next)(long, ...), long number, long a, long b, long c, long d, long e) noexcept;

// Of prctl(), for files that found the C library's.
Redirection redirected_prctl() noexcept;

}  // namespace lanescope::agent::osrt
