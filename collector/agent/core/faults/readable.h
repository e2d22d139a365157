// Tells if memory can be read at all.
#pragma once

#include <cstdint>

namespace lanescope::agent {

// Asks about the page that holds this address: the program may have made it unreadable, and the mapped file may have been shortened since. One system call.
// True if the kernel does not answer, or must not be asked (process/call_filters.h). Any thread.
bool is_readable(std::uintptr_t place) noexcept;

}  // namespace lanescope::agent
