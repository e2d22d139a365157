// Which machine a file was recorded on, and how its clocks stand: what readers need to put files of several hosts on one time axis.
#pragma once

#include <string>

#include "lanescope/trace.pb.h"

namespace lanescope::session {

// 16 letters that are equal for all recordings of one installation of a system, and from which its id (/etc/machine-id, which is to stay
// secret) can't be found: its XXH64. Empty where it has none.
[[nodiscard]] std::string machine_id();

// The kernel's id of this boot: within one, CLOCK_MONOTONIC is one clock.
[[nodiscard]] std::string boot_id();

// All clocks at one moment, and what keeps the time of day right (adjtimex). Takes some microseconds.
[[nodiscard]] proto::ClockSync read_clocks();

}  // namespace lanescope::session
