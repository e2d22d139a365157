// Names of recordings on another machine. They are made here, and are safe in a path and in a command line there.
#pragma once

#include <string>
#include <string_view>

namespace lanescope::remote {

// A new name: the time of day, so that names sort in the order in which they were made, and 32 random bits.
[[nodiscard]] std::string new_recording_name();

// True for 1 to 64 letters, digits and -, which must not be the first character.
[[nodiscard]] bool is_recording_name(std::string_view text) noexcept;

}  // namespace lanescope::remote
