// This machine, as it is: what can be recorded on it, and what would change what can't.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace lanescope::cli {

// Tries what can only be tried; takes as long as the driver takes to initialise, and a second for each program that does not answer.
[[nodiscard]] std::vector<Finding> examine();

// "Linux 6.1.0 x86_64".
[[nodiscard]] std::string system_text();

void print_examination(std::ostream& to, const std::vector<Finding>& findings);

}  // namespace lanescope::cli
