// Numbers and strings of Chrome traces.
#include <charconv>

#include "chrome_event.h"
#include "chrome_tokens.h"

namespace lanescope::importers {
namespace {

constexpr Nanoseconds kLargestTime = Nanoseconds{1} << 61;

unsigned value_of_digits(std::string_view digits) noexcept {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

void append_utf8(unsigned code, std::string& text) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'n':
        plain += '\n';
        break;
      case 't':
        plain += '\t';
        break;
      case 'r':
        plain += '\r';
        break;
      case 'b':
        plain += '\b';
        break;
      case 'f':
        plain += '\f';
        break;
      case 'u': {
        unsigned code = value_of_digits(text.substr(i + 1, 4));
        i += 4;
        const bool high = code >= 0xd800 && code < 0xdc00;
        if (high && text.substr(std::min(i + 1, text.size())).starts_with("\\u")) {
          const unsigned low = value_of_digits(text.substr(i + 3, 4));
          if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            i += 6;
          }
        }
        append_utf8(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, plain);
        break;
      }
      default:
        plain += c;
    }
  }
  return plain;
}

std::optional<std::uint32_t> number_of(std::string_view text) noexcept {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Nanoseconds> nanoseconds_of_microseconds(std::string_view text) noexcept {
  constexpr int kDigits = 19;  // the most that 64 bits hold
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::uint64_t digits = 0;
  int count = 0;     // of significant digits in `digits`
  int exponent = 3;  // the value is digits · 10^exponent ns
  bool any = false;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    any = true;
    if (count < kDigits) {
      digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
      if (digits > 0) ++count;
      if (fraction) --exponent;
    } else if (!fraction) {
      ++exponent;
    }
  }
  if (!any) return std::nullopt;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    if (++i < text.size() && text[i] == '+') ++i;
    int written = 0;
    const auto [end, failure] = std::from_chars(text.data() + i, text.data() + text.size(), written);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    exponent += std::clamp(written, -1000, 1000);
  }
  for (; exponent > 0 && digits != 0; --exponent) {
    if (digits > static_cast<std::uint64_t>(kLargestTime)) return std::nullopt;
    digits *= 10;
  }
  bool round_up = false;
  for (; exponent < 0 && digits != 0; ++exponent) {
    round_up = digits % 10 >= 5;  // by the last removed digit: to the nearest, halves away from 0
    digits /= 10;
  }
  if (exponent < 0) round_up = false;
  if (round_up) ++digits;
  if (digits > static_cast<std::uint64_t>(kLargestTime)) return std::nullopt;
  const auto magnitude = static_cast<Nanoseconds>(digits);
  return negative ? -magnitude : magnitude;
}

}  // namespace lanescope::importers
