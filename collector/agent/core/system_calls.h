// System calls for which old C libraries have no function.
#pragma once

#include <cstdint>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lanescope::agent {

inline std::uint32_t kernel_thread_id() noexcept { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

// Of an open file; false where there is none.
inline bool file_status(int descriptor, struct stat& status) noexcept { return syscall(SYS_fstat, descriptor, &status) == 0; }

}  // namespace lanescope::agent
