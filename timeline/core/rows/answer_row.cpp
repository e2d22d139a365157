#include "timeline/core/rows/answer_row.h"

#include <algorithm>
#include <utility>

#include "model/trace/trace_builder.h"
#include "timeline/core/navigation.h"

namespace lanescope::timeline {

AnswerRow::AnswerRow(std::string title, std::vector<AnsweredRange> ranges) : title_(std::move(title)) {
  TraceBuilder builder;
  std::vector<Event> events;
  events.reserve(ranges.size());
  for (const AnsweredRange& range : ranges) events.push_back({range.time.begin, range.time.length(), builder.intern(range.text), 0, 0});
  builder.add({.kind = TrackKind::kNvtxProcessRanges, .process = builder.process_of_instance(1)}, std::move(events));
  ranges_ = builder.snapshot();
  std::vector<Level> levels;
  for (LaneId lane = 0; lane < ranges_->lanes().size(); ++lane) levels.push_back({LaneSource{.lane = lane}});
  if (levels.size() > kMostLevels || levels.empty()) {
    Level together;
    for (const Level& level : levels) together.push_back(level.front());
    levels = {std::move(together)};
  }
  for (const Level& level : levels) levels_.emplace_back(ranges_, level);
}

std::optional<TimeRange> AnswerRow::nearest(Nanoseconds time) const {
  std::optional<TimeRange> nearest;
  const auto distance = [time](TimeRange range) { return std::max<Nanoseconds>({0, range.begin - time, time - range.end}); };
  for (const LevelContent& level : levels_)
    if (const auto found = nearest_event(level, time)) {
      const Event event = ranges_->event(*found);
      const TimeRange range{event.start, event.end()};
      if (!nearest || distance(range) < distance(*nearest)) nearest = range;
    }
  return nearest;
}

}  // namespace lanescope::timeline
