#include "text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "model/trace/text/duration.h"
#include "model/trace/text/grouped_digits.h"

namespace lanescope::cli {
namespace {

std::string formatted(const char* format, double value, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value, unit);
  return text.data();
}

}  // namespace

std::string counted(std::uint64_t number, std::string_view noun) { return grouped_digits(number) + " " + std::string(noun) + (number == 1 ? "" : "s"); }

std::string unfollowed_text(std::uint64_t processes) {
  return grouped_digits(processes) + (processes == 1 ? " process" : " processes") + " could not be followed";
}

std::string duration_text(std::int64_t nanoseconds) { return format_duration(nanoseconds); }

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return formatted("%.1f %s", value, kUnits[unit]);
}

std::string utc_text(std::int64_t nanoseconds_since_1970) {
  const std::time_t seconds = nanoseconds_since_1970 / 1'000'000'000;
  std::tm calendar{};
  gmtime_r(&seconds, &calendar);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &calendar);
  return text.data();
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string without_trace_extension(std::string_view path) {
  for (const std::string_view extension : {".gz", ".json", ".trace", ".sqlite", ".db"})
    if (path.ends_with(extension) && path.size() > extension.size()) path.remove_suffix(extension.size());
  return std::string(path);
}

std::string command_text(std::span<const std::string> command) {
  std::string text;
  for (const std::string& argument : command) {
    if (!text.empty()) text += ' ';
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n\"'\\$`*?[]{}()<>|&;#~!") == std::string::npos;
    if (plain) {
      text += argument;
      continue;
    }
    text += '\'';
    for (const char character : argument) text += character == '\'' ? std::string("'\\''") : std::string(1, character);
    text += '\'';
  }
  return text;
}

}  // namespace lanescope::cli
