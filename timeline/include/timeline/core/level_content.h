// What a level of a row shows, ready to be asked for pixels: its lanes, filtered where the row takes only some events of a lane, and the
// union of their busy time where they are several.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "timeline/core/interval_union.h"
#include "timeline/core/row_tree.h"

namespace lanescope::timeline {

// A lane of a level. Its events are a subset, in order, of those of the trace's lane `source`.
struct ContentLane {
  TrackKind kind = TrackKind::kKernels;
  LaneId source = kNone;
  std::shared_ptr<const Lane> lane;
  std::vector<EventIndex> selected;  // index in the source of each event; empty where all are taken

  [[nodiscard]] EventRef ref(EventIndex index) const noexcept { return {source, selected.empty() ? index : selected[index]}; }
};

class LevelContent {
 public:
  LevelContent(std::shared_ptr<const Trace> trace, const Level& level);

  [[nodiscard]] const std::vector<ContentLane>& lanes() const noexcept { return lanes_; }
  // Of all lanes; empty where there is only one, which needs none.
  [[nodiscard]] const IntervalUnion& merged() const noexcept { return merged_; }
  // Time within the window in which at least one event runs. O(log n).
  [[nodiscard]] Nanoseconds busy(TimeRange window) const noexcept;
  // Events that start within the window. O(lanes · log n).
  [[nodiscard]] std::uint64_t count(TimeRange window) const noexcept;

 private:
  std::vector<ContentLane> lanes_;
  IntervalUnion merged_;
};

// Contents of one trace, made when first asked for and kept. One thread at a time.
class ContentCache {
 public:
  ContentCache() = default;
  explicit ContentCache(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}
  // First call for a level: O(events of its lanes) where it combines or filters lanes, else O(segments). The reference stays valid.
  const LevelContent& content(const Level& level);

 private:
  std::shared_ptr<const Trace> trace_;
  std::map<std::vector<std::uint64_t>, std::unique_ptr<LevelContent>> contents_;
};

}  // namespace lanescope::timeline
