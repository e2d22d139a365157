// The CPython interpreters to test with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::test {

// python3 of this machine, where there is one that can be read, and those that LANESCOPE_PYTHONS names, separated by colons.
std::vector<std::string> interpreters();

// Whether it is a build in which threads need no global lock.
bool is_free_threaded(const std::string& interpreter);
unsigned minor_version(const std::string& interpreter);

// What a command prints.
std::string output_of(const std::string& command);

// The first line of a file in which this text stands, counted from 1; 0 where none has it.
std::uint32_t line_with(const std::string& file, std::string_view text);

}  // namespace lanescope::test
