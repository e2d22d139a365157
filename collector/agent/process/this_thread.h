// The number by which the kernel knows the calling thread.
#pragma once

#include <cstdint>

namespace lanescope::agent {

// Taken from the C library, without a system call, because a program may have forbidden itself some by the time of a thread's first event. If the C library
// does not know the number (in the child of a system call that bypassed it), the kernel is asked.
std::uint32_t this_thread_id() noexcept;

// The C library's number alone; 0 if it is not known there. Never asks the kernel.
std::uint32_t this_thread_id_unasked() noexcept;

// The same in the child of the C library's fork(), which knows the number there if it did in the parent. `generation`: the one that the child will have.
std::uint32_t this_thread_id_after_fork(std::uint32_t generation) noexcept;

}  // namespace lanescope::agent
