// What users call a kernel: the name of its function alone.
#pragma once

#include <string_view>

namespace lanescope::agent::kernel_counters {

// "saxpy" of "_Z5saxpyifPKfPf", "reduce_kernel" of "_ZN2at6native13reduce_kernelILi512ELi1E...": without namespaces, template arguments and
// parameters. What is not mangled as the Itanium C++ ABI says stays as it is. O(length).
[[nodiscard]] std::string_view function_name(std::string_view mangled) noexcept;

// Whether it belongs to a library of collectives (NCCL, NVSHMEM): such a kernel waits for others, and can't be run by itself.
[[nodiscard]] bool is_collective(std::string_view mangled) noexcept;

}  // namespace lanescope::agent::kernel_counters
