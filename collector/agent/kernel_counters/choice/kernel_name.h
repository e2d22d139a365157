// The users' name for a kernel: only the name of its function.
#pragma once

#include <string_view>

namespace lanescope::agent::kernel_counters {

// "saxpy" for "_Z5saxpyifPKfPf", "reduce_kernel" for "_ZN2at6native13reduce_kernelILi512ELi1E...": without namespaces, template arguments and parameters. Names
// that are not mangled by the Itanium C++ ABI stay unchanged. O(length).
[[nodiscard]] std::string_view function_name(std::string_view mangled) noexcept;

// True if it belongs to a library of collectives (NCCL, NVSHMEM): such a kernel waits for others, and can't run alone.
[[nodiscard]] bool is_collective(std::string_view mangled) noexcept;

}  // namespace lanescope::agent::kernel_counters
