// Reads numbers and texts in requests and answers of a session. Whoever may write to its socket, or left one in its place, may have put anything there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "model/file/result.h"

namespace lanescope::cli {

// The integer of this name. Fails with one sentence if it is missing, or is not an integer from `least` to `most`; true and 3.0 are refused.
[[nodiscard]] Result<std::int64_t> whole_number_in(const nlohmann::json& message, const char* name, std::int64_t least, std::int64_t most);

// The signal that is to end a program; 0: none. Fails as whole_number_in().
[[nodiscard]] Result<int> signal_in(const nlohmann::json& message, const char* name);

// Seconds of this name, without their fraction. Fails with one sentence if it is missing, or is not a number from 0 to 1e9.
[[nodiscard]] Result<std::int64_t> whole_seconds_in(const nlohmann::json& message, const char* name);

// The text of this name; empty if it is missing, or is not a text.
[[nodiscard]] std::string text_in(const nlohmann::json& message, const char* name);

}  // namespace lanescope::cli
