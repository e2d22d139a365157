// Checks of options' values. Each says in one clause what is wrong and which values are accepted; CLI11 puts the option's name before it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/file/result.h"

namespace lanescope::cli {

// What to tell a user who typed a word that is not one of the words; nothing if there is nothing to tell.
using WordAdvice = std::optional<std::string> (*)(std::string_view word);
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words, WordAdvice advice = nullptr);

// As in nsys, the value `help` of an option prints which values it takes, and the command is over: this is thrown. one_of() does so by itself. What is printed
// may depend on the machine, so it is made only if it is this one that is asked (parse()).
inline constexpr std::string_view kHelpValue = "help";
class ValuesAsked : public CLI::Success {
 public:
  using Text = std::function<Result<std::string>()>;
  explicit ValuesAsked(Text text) : text_(std::move(text)) {}
  // The lines, each with its end.
  [[nodiscard]] Result<std::string> text() const { return text_(); }

 private:
  Text text_;
};
[[noreturn]] void print_values(const std::vector<std::string>& lines);
[[noreturn]] void print_values_of_machine(ValuesAsked::Text text);
// Each line with its end.
[[nodiscard]] std::string lines_text(const std::vector<std::string>& lines);
// For values that something else checks.
[[nodiscard]] CLI::Validator help_lists(std::vector<std::string> lines);

[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

enum class Zero { kTaken, kRefused };
[[nodiscard]] CLI::Validator seconds_of_time(Zero zero);

// Turns "500M" into a number of bytes. K, M, G and T are powers of 1024; "iB" or "B" may follow.
[[nodiscard]] CLI::Validator size_in_bytes();

// Turns the name that nsys would give a trace into ours, and says so: x.nsys-rep becomes x.trace if only x.trace exists.
[[nodiscard]] CLI::Validator trace_file();

// The request can't be done as it was made: exit code 2.
[[nodiscard]] Error usage_error(std::string text);

// A name for a recording: no option that took the name's place, and not standard output.
[[nodiscard]] CLI::Validator recording_name();

// A name that can be part of a file's name.
[[nodiscard]] CLI::Validator session_name();

}  // namespace lanescope::cli
