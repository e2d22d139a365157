// Options and commands that users know from nsys, or from instructions that were never right, and that we do not have. What nsys records and we do not is in
// unrecorded_options.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lanescope::cli {

// What to tell a user who typed this option ("--output-dir", "-p"), as one or two sentences; nothing for an unknown name.
[[nodiscard]] std::optional<std::string> foreign_option_advice(std::string_view name);

// True if a command does what this option with this value ("" if it has none) asks for, so that nothing has to be said: it is what we do anyway, or it is
// switched off with false or none.
[[nodiscard]] bool foreign_option_is_granted(std::string_view name, std::string_view value);

// What to tell a user who typed this command; nothing for an unknown one.
[[nodiscard]] std::optional<std::string> foreign_command_advice(std::string_view name);

// Replaces a name that older versions of nsys give to a report or rule ("gpukernsum:base", "gpu-starvation") by today's, and says so on standard error.
// Other names stay.
void take_name_of_today(std::string& asked);

// What to tell a user who typed this word in --type of lanescope export; nothing for an unknown one.
[[nodiscard]] std::optional<std::string> foreign_type_advice(std::string_view word);

}  // namespace lanescope::cli
