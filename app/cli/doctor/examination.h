// The state of this machine: what can be recorded on it, and what would make the rest possible.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace lanescope::cli {

// Tries what can only be found out by trying. Takes as long as the driver takes to initialise, and a second for each program that does not answer.
[[nodiscard]] std::vector<Finding> examine();

// "Linux 6.1.0 x86_64".
[[nodiscard]] std::string system_text();

void print_examination(std::ostream& to, const std::vector<Finding>& findings);

}  // namespace lanescope::cli
