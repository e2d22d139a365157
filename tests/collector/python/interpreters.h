// The CPython interpreters to test with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::test {

// python3 of this machine, if it can be read, and those that LANESCOPE_PYTHONS names, separated by colons.
std::vector<std::string> interpreters();

// True if it is a build in which threads need no global lock.
bool is_free_threaded(const std::string& interpreter);
unsigned minor_version(const std::string& interpreter);

// Returns what a command prints.
std::string output_of(const std::string& command);

// The first line of a file that contains this text, counted from 1; 0 if there is none.
std::uint32_t line_with(const std::string& file, std::string_view text);

}  // namespace lanescope::test
