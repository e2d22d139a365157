// Before a process becomes another program, the agent hands over the CUPTI records that it holds, and tells if that program is left alone because of a filter
// (process/earlier_filters.h). Safe in a signal handler; in the child of a vfork it only
// looks at the file.
#pragma once

#include <array>
#include <cstddef>

#include "agent/core/loader/call_slots.h"

namespace lanescope::agent::osrt {

// Programs look for others by trying: a file that can't be run ends nothing. `path`: the program's file; null if unknown.
void hand_over_before_exec(const char* path) noexcept;

// For files whose calls were bound to the C library's functions. Looked up while the agent is loaded.
inline constexpr std::size_t kExecCalls = 8;
std::array<Redirection, kExecCalls> redirected_exec_calls() noexcept;

}  // namespace lanescope::agent::osrt
