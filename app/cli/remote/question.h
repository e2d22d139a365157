// The question whether this recorder may be copied to a machine. Nothing is copied unasked.
#pragma once

#include <functional>
#include <string>

namespace lanescope::cli {

// Prints it to the terminal. The answer is to be read from standard input.
void ask_whether_to_copy(const std::string& target);
// Reads the answer, a line.
[[nodiscard]] bool is_answered_by_yes();

// Asks at our terminal, and waits for the answer. False without a terminal, and as soon as `goes_on` is false.
[[nodiscard]] bool is_copy_wished(const std::string& target, const std::function<bool()>& goes_on);
// Leaves the question to the lanescope that has started this one for one of several machines (machine_process.h).
[[nodiscard]] bool is_copy_wished_by_starter(const std::function<bool()>& goes_on);

}  // namespace lanescope::cli
