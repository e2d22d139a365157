// Numbers and strings of Chrome traces.
#include <charconv>

#include "chrome_event.h"

namespace lanescope::importers {
namespace {

constexpr Nanoseconds kLargestTime = Nanoseconds{1} << 61;

// Bytes of the UTF-8 sequence at the front of `text`; 0 when it is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool too_large = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0)
      valid += "\xef\xbf\xbd";
    else
      valid += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return valid;
}

std::optional<Nanoseconds> nanoseconds_of_microseconds(std::string_view text) noexcept {
  constexpr int kDigits = 19;  // that fit in 64 bits
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
    round_up = digits % 10 >= 5;  // of the last digit cut off: the nearest, halves away from 0
    digits /= 10;
  }
  if (exponent < 0) round_up = false;
  if (round_up) ++digits;
  if (digits > static_cast<std::uint64_t>(kLargestTime)) return std::nullopt;
  const auto magnitude = static_cast<Nanoseconds>(digits);
  return negative ? -magnitude : magnitude;
}

}  // namespace lanescope::importers
