// Captures that the target itself begins and ends (channel::CaptureTrigger).
#pragma once

#include <cstdint>

#include "collector/channel/layout.h"

namespace lanescope::agent {

// True if captures begin in this way now. One load.
inline bool captures_by(const channel::Settings& settings, channel::CaptureTrigger trigger) noexcept {
  return settings.capture_trigger.load(std::memory_order_acquire) == static_cast<std::uint32_t>(trigger);
}

// The key of a range that a thread pushed. It differs from the keys of all other open ranges of the process, and from those of started ranges, whose ids do not
// have this bit.
inline constexpr std::uint64_t kPushedRange = std::uint64_t{1} << 63;
constexpr std::uint64_t pushed_range_key(std::uint32_t thread, std::uint32_t domain, int level) noexcept {
  return kPushedRange | std::uint64_t{thread} << 32 | std::uint64_t{domain} << 20 | static_cast<std::uint64_t>(level + 1);
}

// Begins a capture of the session that owns this memory, unless one is in progress. `key` is not 0 and identifies the capture. Returns when everything is
// recorded that the host wants recorded, when that session is over, or after ten seconds, which is reported. Any thread.
void begin_capture(channel::SharedHeader& header, std::uint64_t key) noexcept;

// Ends the capture in progress in that session if it has this key: after that, nothing is recorded in this process. Any thread; one load if there is no
// capture.
void end_capture(channel::SharedHeader& header, std::uint64_t key) noexcept;

// The same for a range of a thread that ends before the range does: nobody will pop it.
void end_capture_of_thread(channel::SharedHeader& header, std::uint32_t thread) noexcept;

// For a program that asked its recorder for a capture: returns when what records on a thread of its own follows the answer. Any thread.
void follow_capture() noexcept;

// Called by the functions above; it returns when its source follows the host's settings. One per process.
void on_capture_change(void (*follow_settings)()) noexcept;

}  // namespace lanescope::agent
