// The number by which the kernel knows the calling thread.
#pragma once

#include <cstdint>

namespace lanescope::agent {

// As the C library knows it, without a system call: a program may have forbidden itself some by the time of a thread's first event. Where the C
// library does not, in the child of a system call that it knows nothing of, the kernel is asked.
std::uint32_t this_thread_id() noexcept;

// The same in the child of a fork() of the C library's, which knows it there if it did in the parent. `generation`: that the child will have.
std::uint32_t this_thread_id_after_fork(std::uint32_t generation) noexcept;

}  // namespace lanescope::agent
