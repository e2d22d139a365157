#include "timeline/core/words/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "model/trace/text/duration.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"

namespace lanescope::timeline {
namespace {

constexpr Nanoseconds kLatestTime = std::numeric_limits<Nanoseconds>::max() - 1'000'000'000;  // so that it can be rounded up

std::string with_decimals(double value, int decimals, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}

}  // namespace

std::string format_duration(Nanoseconds duration) { return lanescope::format_duration(duration); }

std::string format_time(Nanoseconds time, Nanoseconds resolution) {
  constexpr Nanoseconds kMinute = 60'000'000'000, kHour = 60 * kMinute;
  constexpr Nanoseconds kCoarse = 100'000'000;  // of a pixel, when a ruler begins to have minutes
  int decimals = 9;
  Nanoseconds last_digit = 1;
  for (; decimals > 0 && resolution >= 10 * last_digit; last_digit *= 10) --decimals;
  const Nanoseconds size = time < 0 ? -std::max(time, -kLatestTime) : std::min(time, kLatestTime);
  const Nanoseconds shown = (size + last_digit / 2) / last_digit * last_digit;
  const bool is_coarse = resolution >= kCoarse;
  if (shown < (is_coarse ? kMinute : kHour)) return with_decimals(static_cast<double>(time) / 1e9, decimals, "s");
  const Nanoseconds seconds = shown % kMinute;
  std::string text = (time < 0 ? "-" : "") + format_whole_seconds(shown - seconds);
  if (seconds > 0) text.append(" ").append(with_decimals(static_cast<double>(seconds) / 1e9, decimals, "s"));
  return text;
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
  struct Unit {
    std::string_view name;
    double size;
  };
  constexpr std::array<Unit, 9> kUnits{{{"ns", 1},
                                        {"us", 1e3},
                                        {"\u00b5s", 1e3},
                                        {"\u03bcs", 1e3},  // the Greek letter; above, the micro sign
                                        {"ms", 1e6},
                                        {"s", 1e9},
                                        {"min", 60e9},
                                        {"h", 3600e9},
                                        {"d", 86400e9}}};
  const auto skip_spaces = [&text] { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); };
  const auto is_of_number = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ' '; };
  double sum = 0;
  double before = std::numeric_limits<double>::infinity();  // the unit of the part in front: each is smaller
  skip_spaces();
  do {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_spaces();
    const std::string_view name = text.substr(0, static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_of_number) - text.begin()));
    text.remove_prefix(name.size());
    skip_spaces();
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& each) { return each.name == name; });
    const bool is_bare = name.empty() && std::isinf(before) && text.empty();  // a number alone is in nanoseconds
    if (unit == kUnits.end() && !is_bare) return std::nullopt;
    const double size = is_bare ? 1 : unit->size;
    if (size >= before || (number < 0 && !std::isinf(before))) return std::nullopt;
    before = size;
    sum += std::signbit(sum) ? -number * size : number * size;
  } while (!text.empty());
  if (!(std::abs(sum) < kLargest)) return std::nullopt;
  return std::llround(sum);
}

}  // namespace lanescope::timeline
