// Keys and values of JSON objects, as in the text. Internal to model/import.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lanescope::importers {

// A key of an object: the text behind its opening quote.
class Key {
 public:
  explicit Key(const char* text) : text_(text) {}
  template <std::size_t size>
  bool operator==(const char (&name)[size]) const noexcept {
    return std::memcmp(text_, name, size - 1) == 0 && text_[size - 1] == '"';
  }
  [[nodiscard]] char first() const noexcept { return *text_; }

 private:
  const char* text_;
};

inline std::string_view trimmed(std::string_view token) noexcept {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) token.remove_suffix(1);
  return token;
}

// A string without its quotes; any other token unchanged.
inline std::string_view bare(std::string_view token) noexcept {
  token = trimmed(token);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return token.substr(1, token.size() - 2);
  return token;
}

// An integer, also if it is written as a string or with a fraction of zeros; nothing for other values.
template <typename Number>
std::optional<Number> whole(std::string_view token) noexcept {
  const std::string_view text = bare(token);
  Number number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  if (end != text.data() + text.size() && *end != '.') return std::nullopt;
  return number;
}
template <typename Number>
void assign(Number& target, std::string_view token) noexcept {
  target = whole<Number>(token).value_or(0);
}

// For example "0x7F1B7A101000"; 0 for other values.
inline std::uint64_t address_of(std::string_view token) noexcept {
  const std::string_view text = bare(token);
  std::uint64_t address = 0;
  if (text.starts_with("0x")) std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
  return address;
}

// The content of a string, given without its quotes; escapes are decoded.
[[nodiscard]] std::string unescaped(std::string_view text);

}  // namespace lanescope::importers
