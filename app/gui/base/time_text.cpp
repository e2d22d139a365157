#include "base/time_text.h"

#include <cmath>

#include <QRegularExpression>

namespace lanescope::ui {

std::optional<Nanoseconds> parse_time(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^\\s*(-?\\d+(?:\\.\\d+)?)\\s*(s|ms|us|µs|μs|ns)?\\s*$"));
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) return std::nullopt;
  const QString unit = match.captured(2);
  const double nanoseconds_per_unit = unit == u"s" ? 1e9 : unit == u"ms" ? 1e6 : unit.isEmpty() || unit == u"ns" ? 1 : 1e3;
  const double nanoseconds = match.captured(1).toDouble() * nanoseconds_per_unit;
  constexpr double kLargest = 9.2e18;  // what fits into 64 bits
  if (std::abs(nanoseconds) > kLargest) return std::nullopt;
  return std::llround(nanoseconds);
}

std::optional<TimeRange> parse_range(const QString& text) {
  const QStringList sides = text.split(u':');
  if (sides.size() != 2) return std::nullopt;
  const std::optional<Nanoseconds> begin = parse_time(sides[0]), end = parse_time(sides[1]);
  if (!begin || !end || *end <= *begin) return std::nullopt;
  return TimeRange{*begin, *end};
}

}  // namespace lanescope::ui
