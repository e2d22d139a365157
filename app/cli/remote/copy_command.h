// The command that brings this lanescope to another machine, for whoever finds none there.
#pragma once

#include <string>

#include "collector/remote/target.h"

namespace lanescope::cli {

// One sentence with the command, and the option that then names what it copied. Nothing is run.
[[nodiscard]] std::string advice_to_copy(const remote::Target& target);

}  // namespace lanescope::cli
