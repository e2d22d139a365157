// The CPython interpreters to test with.
#pragma once

#include <string>
#include <vector>

namespace lanescope::test {

// python3 of this machine, where there is one that can be read, and those that LANESCOPE_PYTHONS names, separated by colons.
std::vector<std::string> interpreters();

// What a command prints.
std::string output_of(const std::string& command);

}  // namespace lanescope::test
