// Time ranges that answer a query, as a row of the timeline.
//
// They belong to no lane of the trace. If some of them overlap, each has its own level; if many do, one level shows their combined busy time. Immutable; any
// thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/pixels/level_content.h"

namespace lanescope::timeline {

struct AnsweredRange {
  TimeRange time;    // on the axis of the timeline; an empty one is drawn as an instant
  std::string text;  // "" if there is no text
};

class AnswerRow {
 public:
  static constexpr std::size_t kMostLevels = 8;

  // Ranges in any order; ranges whose times are not near (see types.h), or that end before they start, are left out. O(n log n).
  AnswerRow(std::string title, std::vector<AnsweredRange> ranges);

  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return ranges_->event_count(); }
  // The ranges as events of a trace of their own, to which the contents refer. One content for each level, at least one.
  [[nodiscard]] const Trace& ranges() const noexcept { return *ranges_; }
  [[nodiscard]] const std::vector<LevelContent>& levels() const noexcept { return levels_; }
  // The range nearest to a time; nothing if there are none. O(levels · log n).
  [[nodiscard]] std::optional<TimeRange> nearest(Nanoseconds time) const;

 private:
  std::string title_;
  std::shared_ptr<const Trace> ranges_;
  std::vector<LevelContent> levels_;
};

}  // namespace lanescope::timeline
