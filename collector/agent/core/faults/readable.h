// Whether memory can be read at all.
#pragma once

#include <cstdint>

namespace lanescope::agent {

// Of the page in which this lies: a program may have taken the right away, and the file from which it is mapped may have been cut short since. One system
// call; where the kernel does not answer, or must not be asked (process/call_filters.h), it can. Any thread.
bool is_readable(std::uintptr_t place) noexcept;

}  // namespace lanescope::agent
