#include "timeline/core/words/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"

namespace lanescope::timeline {
namespace {

std::string with_decimals(double value, int decimals, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}

}  // namespace

std::string format_duration(Nanoseconds duration) {
  const Nanoseconds size = duration < 0 ? -duration : duration;
  const auto value = static_cast<double>(duration);
  if (size < 1'000) return with_decimals(value, 0, "ns");
  if (size < 1'000'000) return with_decimals(value / 1e3, 3, "µs");
  if (size < 1'000'000'000) return with_decimals(value / 1e6, 3, "ms");
  return with_decimals(value / 1e9, 3, "s");
}

std::string format_time(Nanoseconds time, Nanoseconds resolution) {
  int decimals = 9;
  for (Nanoseconds size = 10; decimals > 0 && resolution >= size; size *= 10) --decimals;
  return with_decimals(static_cast<double>(time) / 1e9, decimals, "s");
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return with_decimals(value, unit == 0 ? 0 : 2, kUnits[unit]);
}

std::string format_throughput(std::uint64_t bytes, Nanoseconds duration) {
  if (duration <= 0) return {};
  const double per_second = static_cast<double>(bytes) * 1e9 / static_cast<double>(duration);
  if (per_second >= 1e9) return with_decimals(per_second / 1e9, 2, "GB/s");
  if (per_second >= 1e6) return with_decimals(per_second / 1e6, 2, "MB/s");
  return with_decimals(per_second / 1e3, 2, "kB/s");
}

std::string format_count(std::uint64_t count) { return grouped_digits(count); }

Message format_counted(std::uint64_t count, std::string_view noun) {
  return Message("{number} " + std::string(noun) + (count == 1 ? "" : "s"), {{"number", format_count(count)}});
}

std::string format_share(double share) {
  if (share > 0 && share < 0.0005) return "<" + format_percent(0.1);
  return format_percent(share * 100);
}

std::optional<Nanoseconds> parse_time(std::string_view text) {
  constexpr double kLargest = 9.2e18;  // fits into 64 bits
  const auto trim = [](std::string_view part) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    return part;
  };
  text = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  double size = 0;
  if (unit.empty() || unit == "ns") size = 1;
  if (unit == "us" || unit == "\u00b5s" || unit == "\u03bcs") size = 1e3;  // micro sign, or the Greek letter
  if (unit == "ms") size = 1e6;
  if (unit == "s") size = 1e9;
  if (size == 0 || !(std::abs(number * size) < kLargest)) return std::nullopt;
  return std::llround(number * size);
}

}  // namespace lanescope::timeline
