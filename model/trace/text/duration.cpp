#include "model/trace/text/duration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

namespace lanescope {
namespace {

constexpr Nanoseconds kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

std::string with_decimals(double value, int decimals, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, unit);
  return text.data();
}

std::string with_three_digits(double value, const char* unit) { return with_decimals(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, unit); }

// Less than the largest number by a day, so that it can be rounded up.
Nanoseconds size_of(Nanoseconds duration) {
  constexpr Nanoseconds kLargest = std::numeric_limits<Nanoseconds>::max() - kDay;
  return std::min(duration < 0 ? -std::max(duration, -kLargest) : duration, kLargest);
}
std::string with_sign(Nanoseconds duration, const std::string& text) { return duration < 0 ? '-' + text : text; }

// The parts that are not zero, joined; the time that is left over is subtracted from `time`.
std::string take_parts(Nanoseconds& time, std::size_t most, Nanoseconds smallest) {
  struct Part {
    Nanoseconds size;
    std::string_view name;
  };
  constexpr std::array<Part, 4> kParts{{{kDay, "d"}, {kHour, "h"}, {kMinute, "min"}, {kSecond, "s"}}};
  std::string text;
  std::size_t parts = 0;  // from the first one that is not zero
  for (const Part& part : kParts) {
    if (part.size < smallest || parts == most) break;
    const Nanoseconds count = time / part.size;
    time -= count * part.size;
    if (count > 0) text.append(text.empty() ? "" : " ").append(std::to_string(count)).append(" ").append(part.name);
    parts += text.empty() ? 0 : 1;
  }
  return text;
}

}  // namespace

std::string format_duration(Nanoseconds duration) {
  const Nanoseconds size = size_of(duration);
  const auto value = static_cast<double>(size);
  if (size < kMicrosecond) return with_sign(duration, with_decimals(value, 0, "ns"));
  if (size < kMillisecond) return with_sign(duration, with_decimals(value / 1e3, 3, "µs"));
  if (size < kSecond) return with_sign(duration, with_decimals(value / 1e6, 3, "ms"));
  if (size < kHour) return with_sign(duration, with_decimals(value / 1e9, 3, "s"));
  Nanoseconds rest = size - size % kMillisecond + (size % kMillisecond >= kMillisecond / 2 ? kMillisecond : 0);
  std::string text = take_parts(rest, 4, kMinute);
  if (rest > 0) text.append(" ").append(with_decimals(static_cast<double>(rest) / 1e9, 3, "s"));
  return with_sign(duration, text);
}

std::string format_short_duration(Nanoseconds duration) {
  const Nanoseconds size = size_of(duration);
  const auto value = static_cast<double>(size);
  if (size < kMicrosecond) return std::to_string(duration) + " ns";
  if (size < kMillisecond) return with_sign(duration, with_three_digits(value / 1e3, "µs"));
  if (size < kSecond) return with_sign(duration, with_three_digits(value / 1e6, "ms"));
  if (size < kHour) return with_sign(duration, with_three_digits(value / 1e9, "s"));
  const Nanoseconds last = size >= kDay ? kHour : kMinute;  // of the two parts
  Nanoseconds rounded = size - size % last + (size % last >= last / 2 ? last : 0);
  return with_sign(duration, take_parts(rounded, 2, last));
}

std::string format_whole_seconds(Nanoseconds duration) { return take_parts(duration, 4, kSecond); }

}  // namespace lanescope
