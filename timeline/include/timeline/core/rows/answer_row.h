// Ranges of time that answer a question, as a row of the timeline: what a query found.
//
// They are of no lane of the trace. Where some of them overlap, each has its level; of many that do, one level says how busy they are together.
// Immutable once made; any thread may read it.
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
  std::string text;  // "" where nothing is said of it
};

class AnswerRow {
 public:
  static constexpr std::size_t kMostLevels = 8;

  // Ranges in any order; those whose times are not near (see types.h), or that end before they begin, are left out. O(n log n).
  AnswerRow(std::string title, std::vector<AnsweredRange> ranges);

  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return ranges_->event_count(); }
  // The ranges as events of a trace of their own, which contents refer to. One content a level, at least one.
  [[nodiscard]] const Trace& ranges() const noexcept { return *ranges_; }
  [[nodiscard]] const std::vector<LevelContent>& levels() const noexcept { return levels_; }
  // That which is nearest to a time; none where there are none. O(levels · log n).
  [[nodiscard]] std::optional<TimeRange> nearest(Nanoseconds time) const;

 private:
  std::string title_;
  std::shared_ptr<const Trace> ranges_;
  std::vector<LevelContent> levels_;
};

}  // namespace lanescope::timeline
