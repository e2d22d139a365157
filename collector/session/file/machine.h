// Which machine a file was recorded on, and how its clocks stand: what readers need to put files of several hosts on one time axis.
#pragma once

#include <string>

#include "lanescope/trace.pb.h"

namespace lanescope::session {

// 16 letters that are equal for all recordings of one installation of a system, and from which its id (/etc/machine-id, which must stay secret) can't be
// found: the XXH64 of that id. Empty if it has none.
[[nodiscard]] std::string machine_id();

// The kernel's id of this boot: within one, CLOCK_MONOTONIC is one clock.
[[nodiscard]] std::string boot_id();

// What the machine says about its processors, "AMD EPYC 9454 48-Core Processor": the model of the first one. Empty if it says nothing.
[[nodiscard]] std::string processor_name();

// The version of NVIDIA's kernel driver, "580.65.06". Empty if none is loaded.
[[nodiscard]] std::string driver_version();

// All clocks at one moment, and how the time of day is synchronized (adjtimex). Takes some microseconds.
[[nodiscard]] proto::ClockSync read_clocks();

}  // namespace lanescope::session
