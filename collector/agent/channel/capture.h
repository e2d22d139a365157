// Captures that the target itself begins and ends (channel::CaptureTrigger).
#pragma once

#include <cstdint>

#include "collector/channel/layout.h"

namespace lanescope::agent {

// Whether captures begin in this way now. One load.
inline bool captures_by(const channel::Settings& settings, channel::CaptureTrigger trigger) noexcept {
  return settings.capture_trigger.load(std::memory_order_acquire) == static_cast<std::uint32_t>(trigger);
}

// The key of a range that a thread pushed, which tells it from all others that are open in the process, and from those that were started: their ids
// have no such bit.
inline constexpr std::uint64_t kPushedRange = std::uint64_t{1} << 63;
constexpr std::uint64_t pushed_range_key(std::uint32_t thread, std::uint32_t domain, int level) noexcept {
  return kPushedRange | std::uint64_t{thread} << 32 | std::uint64_t{domain} << 20 | static_cast<std::uint64_t>(level + 1);
}

// Begins one of the session whose memory this is, which `key` tells from others and is not 0, unless one is under way. Returns once everything
// is recorded that the host wants recorded, when that session is over, or ten seconds later, which is said. Any thread.
void begin_capture(channel::SharedHeader& header, std::uint64_t key) noexcept;

// Ends it where `key` is of the one under way in that session: what follows in this process is not recorded. Any thread; one load where none is.
void end_capture(channel::SharedHeader& header, std::uint64_t key) noexcept;

// The same for the range of a thread that ends before it: nobody will pop it.
void end_capture_of_thread(channel::SharedHeader& header, std::uint32_t thread) noexcept;

// Called by begin_capture() and end_capture(): returns when that source does as the host's settings say. One for the process.
void on_capture_change(void (*follow_settings)()) noexcept;

}  // namespace lanescope::agent
