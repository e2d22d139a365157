// The clocks of a recording.
#pragma once

#include <cstdint>
#include <ctime>

namespace lanescope::channel {

[[nodiscard]] inline std::int64_t clock_now(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

[[nodiscard]] inline std::int64_t monotonic_now() noexcept { return clock_now(CLOCK_MONOTONIC); }  // ns; the clock of every event
[[nodiscard]] inline std::int64_t realtime_now() noexcept { return clock_now(CLOCK_REALTIME); }    // ns since 1970-01-01 UTC

}  // namespace lanescope::channel
