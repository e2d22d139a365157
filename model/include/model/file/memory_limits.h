// How much memory this process may use.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lanescope {

// Bytes that it may still take without harm to others: what the machine has available and what the limits of our control groups (of a container or a job)
// leave. Reads some files of /proc and /sys.
[[nodiscard]] std::uint64_t free_memory();

// Bytes that it may use in total: the least of the machine's memory, the limits of our control groups, and the resource limits (ulimit -v, -d). Reads some
// files of /proc and /sys.
[[nodiscard]] std::uint64_t memory_limit();

// The lowest limit of the control groups that `groups` lists, in the format of /proc/self/cgroup, and of their parents below `root`, which is /sys/fs/cgroup.
// The largest number if there is no limit.
[[nodiscard]] std::uint64_t memory_limit_of_control_groups(const std::filesystem::path& groups, const std::filesystem::path& root);

}  // namespace lanescope
