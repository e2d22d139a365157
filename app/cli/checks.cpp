#include "checks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "command.h"
#include "text.h"

namespace lanescope::cli {
namespace {

constexpr double kLongestTime = 1e9;  // s; thirty years
constexpr double kLargestSize = 1e18;

// Puts the text on one line; other control characters are escaped where the sentence is printed.
std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '\n')
      quoted += "\\n";
    else if (letter == '\t')
      quoted += "\\t";
    else
      quoted += letter;
  }
  return quoted + '"';
}

// The number at the start of the text, and what follows it.
template <typename Number>
std::optional<Number> number_at_begin(const std::string& text, std::string_view& rest) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  rest = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return error == std::errc{} ? std::optional<Number>(value) : std::nullopt;
}

// Returns 0 for an unknown suffix.
double factor_of(std::string_view suffix) {
  std::string unit = in_small_letters(std::string(suffix));
  if (unit.ends_with("ib"))
    unit.resize(unit.size() - 2);
  else if (unit.ends_with("b"))
    unit.resize(unit.size() - 1);
  if (unit.empty()) return 1;
  constexpr std::string_view kUnits = "kmgt";
  const std::size_t power = kUnits.find(unit);
  return unit.size() == 1 && power != std::string_view::npos ? std::pow(1024.0, static_cast<double>(power + 1)) : 0;
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words, WordAdvice advice) {
  const auto check = [words = std::move(words), advice](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    if (text == kHelpValue) print_values(words);
    if (const auto told = advice != nullptr ? advice(text) : std::nullopt) return text + ": " + *told;
    if (const std::string meant = nearest(text, words); !meant.empty()) return "there is no " + in_quotes(text) + ". Did you mean " + meant + "?";
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    return in_quotes(text) + " is none of " + all;
  };
  return CLI::Validator(check, "");
}

std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

void print_values(const std::vector<std::string>& lines) {
  print_values_of_machine([text = lines_text(lines)] { return text; });
}

void print_values_of_machine(ValuesAsked::Text text) { throw ValuesAsked(std::move(text)); }

CLI::Validator help_lists(std::vector<std::string> lines) {
  const auto check = [lines = std::move(lines)](const std::string& text) {
    if (text == kHelpValue) print_values(lines);
    return std::string();
  };
  return CLI::Validator(check, "");
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::string_view rest;
    const std::optional<std::uint64_t> value = number_at_begin<std::uint64_t>(text, rest);
    if (value && rest.empty() && *value >= least && *value <= most) return {};
    return in_quotes(text) + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator seconds_of_time(Zero zero) {
  const auto check = [zero](const std::string& text) -> std::string {
    std::string_view rest;
    const std::optional<double> value = number_at_begin<double>(text, rest);
    const bool is_time = value && rest.empty() && *value >= 0 && *value <= kLongestTime;
    if (is_time && (*value > 0 || zero == Zero::kTaken)) return {};
    return in_quotes(text) + " is no number of seconds such as 10 or 0.5";
  };
  return CLI::Validator(check, "");
}

CLI::Validator size_in_bytes() {
  const auto change = [](std::string& text) -> std::string {
    std::string_view rest;
    const std::optional<double> value = number_at_begin<double>(text, rest);
    const double bytes = value.value_or(0) * factor_of(rest);
    if (!(bytes >= 1 && bytes <= kLargestSize)) return in_quotes(text) + " is no size such as 500M or 2G";
    text = std::to_string(static_cast<std::uint64_t>(bytes));
    return {};
  };
  return CLI::Validator(change, "", "size");
}

CLI::Validator trace_file() {
  const auto change = [](std::string& text) -> std::string {
    std::filesystem::path path = text;
    std::error_code ignored;
    if ((path.extension() != ".nsys-rep" && path.extension() != ".qdrep") || std::filesystem::exists(path, ignored)) return {};
    if (!std::filesystem::exists(path.replace_extension(".trace"), ignored)) return {};
    std::cerr << "lanescope: There is no " << text << "; " << path.string() << " is read.\n";
    text = path.string();
    return {};
  };
  return CLI::Validator(change, "", "trace");
}

CLI::Validator recording_name() {
  const auto check = [](const std::string& name) -> std::string {
    if (name == "-") return "- names no file: a recording is one, and does not go to standard output";
    if (name.starts_with('-')) return in_quotes(name) + " looks like an option; for a file of this name write ./" + name;
    return {};
  };
  return CLI::Validator(check, "");
}

CLI::Validator session_name() {
  constexpr std::size_t kLongest = 64;
  const auto check = [](const std::string& text) -> std::string {
    const bool can_be_shown = std::none_of(text.begin(), text.end(), [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; });
    if (!text.empty() && text.size() <= kLongest && text.find('/') == std::string::npos && can_be_shown) return {};
    return in_quotes(text) + " is no name of a session: it is empty, has a slash or a control character, or more than 64 letters";
  };
  return CLI::Validator(check, "");
}

Error usage_error(std::string text) { return {std::move(text), ErrorKind::kUsage}; }

}  // namespace lanescope::cli
