// Checks of options' values. Each says in one clause what is wrong and what is taken; CLI11 puts the option's name before it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::cli {

[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

enum class Zero { kTaken, kRefused };
[[nodiscard]] CLI::Validator seconds_of_time(Zero zero);

// Turns "500M" into a number of bytes. K, M, G and T are powers of 1024; "iB" or "B" may follow.
[[nodiscard]] CLI::Validator size_in_bytes();

// A name that can stand in that of a file.
[[nodiscard]] CLI::Validator session_name();

}  // namespace lanescope::cli
