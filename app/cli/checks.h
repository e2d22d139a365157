// Checks of options' values. Each says in one clause what is wrong and what is taken; CLI11 puts the option's name before it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::cli {

// What to tell somebody who typed a word that is none of them; none where there is nothing to tell.
using WordAdvice = std::optional<std::string> (*)(std::string_view word);
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words, WordAdvice advice = nullptr);
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

enum class Zero { kTaken, kRefused };
[[nodiscard]] CLI::Validator seconds_of_time(Zero zero);

// Turns "500M" into a number of bytes. K, M, G and T are powers of 1024; "iB" or "B" may follow.
[[nodiscard]] CLI::Validator size_in_bytes();

// Turns the name that nsys would give a trace into ours, and says so: x.nsys-rep becomes x.trace where only that is there.
[[nodiscard]] CLI::Validator trace_file();

// What was asked for can't be done as it was asked: exit code 2.
[[nodiscard]] Error usage_error(std::string text);

// A name that can stand in that of a file.
[[nodiscard]] CLI::Validator session_name();

}  // namespace lanescope::cli
