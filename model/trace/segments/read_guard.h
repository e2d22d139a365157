// Reads of mapped files that fail because a disk fails return zeros instead of ending the process. Internal to model/trace.
//
// The first guard takes over SIGBUS of this process; signals from other memory go to the previous handler.
//
// Threads: any number may call any function at once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lanescope {

// Guards reads of this memory until end_guard() is called with the result. Returns nothing if as many ranges are guarded as Linux allows mappings a
// process.
[[nodiscard]] std::optional<std::size_t> guard_reads(std::span<const std::byte> memory);
void end_guard(std::size_t guard) noexcept;
// True if a guarded read has failed.
[[nodiscard]] bool a_read_failed() noexcept;

}  // namespace lanescope
