// Options and commands that users bring along from nsys, or from instructions that were never right, and that we do not have. What nsys
// records and we do not is in unrecorded_options.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lanescope::cli {

// What to tell somebody who typed this option ("--output-dir", "-p"), as one sentence or two; none for a name that is unknown.
[[nodiscard]] std::optional<std::string> foreign_option_advice(std::string_view name);

// Whether a command does what this option asks for with this value ("" where it stands bare), so that nothing is to be said: what is the
// case here anyway, and what is switched off with false or none.
[[nodiscard]] bool foreign_option_is_granted(std::string_view name, std::string_view value);

// What to tell somebody who typed this command; none for one that is unknown.
[[nodiscard]] std::optional<std::string> foreign_command_advice(std::string_view name);

// The same for a word in --type of lanescope export.
[[nodiscard]] std::optional<std::string> foreign_type_advice(std::string_view word);

}  // namespace lanescope::cli
