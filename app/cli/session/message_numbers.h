// Numbers in what a session is asked and answers: whoever may write to its socket, or left one in its place, may have put anything there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "model/file/result.h"

namespace lanescope::cli {

// The whole number of this name. Fails with one sentence where it is missing, or none from `least` to `most`; true and 3.0 are none.
[[nodiscard]] Result<std::int64_t> whole_number_in(const nlohmann::json& message, const char* name, std::int64_t least, std::int64_t most);

// The signal that is to end a program: 0: none. Fails as above.
[[nodiscard]] Result<int> signal_in(const nlohmann::json& message, const char* name);

// Seconds of this name, without their fraction. Fails with one sentence where it is missing, or no number from 0 to 1e9.
[[nodiscard]] Result<std::int64_t> whole_seconds_in(const nlohmann::json& message, const char* name);

}  // namespace lanescope::cli
