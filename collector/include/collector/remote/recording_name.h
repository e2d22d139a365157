// Names of recordings on another machine: made here, and safe to stand in a path there and in a command line.
#pragma once

#include <string>
#include <string_view>

namespace lanescope::remote {

// A new one: the time of day, so that names are sorted as they were made, and 32 random bits.
[[nodiscard]] std::string new_recording_name();

// Letters, digits and -, not in front; 1 to 64 of them.
[[nodiscard]] bool is_recording_name(std::string_view text) noexcept;

}  // namespace lanescope::remote
