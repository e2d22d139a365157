// The command line as a program.
#pragma once

#include <string>
#include <vector>

namespace lanescope::cli {

using Arguments = std::vector<std::string>;  // the words after the command's name

// Runs the command that the arguments name (without the program's own name); handles --help and --version. Returns the exit code.
int run(Arguments arguments);

}  // namespace lanescope::cli
