#include "base/text/time_text.h"

#include <QStringList>

#include "timeline/core/words/format.h"

namespace lanescope::ui {

std::optional<Nanoseconds> parse_time(const QString& text) { return timeline::parse_time(text.trimmed().toStdString()); }

std::optional<TimeRange> parse_range(const QString& text) {
  const QStringList sides = text.split(u':');
  if (sides.size() != 2) return std::nullopt;
  const std::optional<Nanoseconds> begin = parse_time(sides[0]), end = parse_time(sides[1]);
  if (!begin || !end || *end <= *begin) return std::nullopt;
  return TimeRange{*begin, *end};
}

}  // namespace lanescope::ui
