// Reads of mapped files that fail, since a disk does, give zeros instead of ending the process. Internal to model/trace.
//
// The first guard takes over SIGBUS of this process; one from elsewhere goes where it went before.
//
// Threads: any number may call any function at once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lanescope {

// Guards reads there until end_guard() of what it returns; none where as many are guarded as Linux allows a process of mappings.
[[nodiscard]] std::optional<std::size_t> guard_reads(std::span<const std::byte> memory);
void end_guard(std::size_t guard) noexcept;
// Whether a guarded read has failed.
[[nodiscard]] bool a_read_failed() noexcept;

}  // namespace lanescope
