// Parsing of --filter-time and --filter-nvtx.
#include <array>
#include <charconv>
#include <cmath>

#include "model/stats/report.h"

namespace lanescope::stats {
namespace {

Error not_a_time(std::string_view text) {
  return {std::string(text) + " is not a time range: write start/end with units ns, us, ms or s, for example 1.5s/2s or /300ms.", ErrorKind::kUsage};
}

std::optional<Nanoseconds> parse_time(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  struct NamedUnit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr std::array<NamedUnit, 9> kUnits = {
      {{"", 1}, {"ns", 1}, {"nsec", 1}, {"us", 1e3}, {"usec", 1e3}, {"ms", 1e6}, {"msec", 1e6}, {"s", 1e9}, {"sec", 1e9}}};
  constexpr double kFarthest = 1e18;  // thirty years; from_chars also accepts "nan" and "inf" as numbers
  for (const NamedUnit& known : kUnits)
    if (unit == known.name && std::abs(number * known.nanoseconds) <= kFarthest) return static_cast<Nanoseconds>(std::llround(number * known.nanoseconds));
  return std::nullopt;
}

// The next part up to an unescaped delimiter, which stays in `text`; backslashes are removed.
std::string take_until(std::string_view& text, std::string_view delimiters) {
  std::string part;
  while (!text.empty() && delimiters.find(text.front()) == std::string_view::npos) {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    part += text.front();
    text.remove_prefix(1);
  }
  return part;
}

}  // namespace

Result<TimeRange> parse_time_range(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return not_a_time(text);
  TimeRange range{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};
  if (slash > 0) {
    const auto begin = parse_time(text.substr(0, slash));
    if (!begin) return not_a_time(text);
    range.begin = *begin;
  }
  if (slash + 1 < text.size()) {
    const auto end = parse_time(text.substr(slash + 1));
    if (!end) return not_a_time(text);
    range.end = *end;
  }
  if (range.end < range.begin) return Error{"The time range " + std::string(text) + " ends before it begins.", ErrorKind::kUsage};
  return range;
}

Result<RangeFilter> parse_range_filter(std::string_view text) {
  const std::string whole(text);
  RangeFilter filter;
  filter.range = take_until(text, "@/");
  if (text.starts_with('@')) {
    text.remove_prefix(1);
    filter.domain = take_until(text, "/");
  }
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), filter.index);
    if (error != std::errc{} || end != text.data() + text.size())
      return Error{"The index in " + whole + " is not a number: write RANGE[@DOMAIN][/INDEX]; a slash in a name is written \\/.", ErrorKind::kUsage};
  }
  if (filter.range.empty()) return Error{"The NVTX range in " + whole + " has no name: write RANGE[@DOMAIN][/INDEX].", ErrorKind::kUsage};
  return filter;
}

}  // namespace lanescope::stats
