// How much memory this process may have.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lanescope {

// Bytes that it may still take without anybody missing them: what the machine has available, and what the limits of our control groups (a
// container's, a job's) leave. Reads some files of /proc and /sys.
[[nodiscard]] std::uint64_t free_memory();

// Bytes that it may have in all: what the machine has, the least limit of our control groups, and the limits of resources (ulimit -v, -d). Reads
// some files of /proc and /sys.
[[nodiscard]] std::uint64_t memory_limit();

// The least limit among the control groups that `groups` names, as /proc/self/cgroup does, and those around them, below `root`, which is
// /sys/fs/cgroup; the largest number where there is none.
[[nodiscard]] std::uint64_t memory_limit_of_control_groups(const std::filesystem::path& groups, const std::filesystem::path& root);

}  // namespace lanescope
