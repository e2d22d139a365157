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
  // `before`, where given, is the same level of an earlier snapshot of the recording: what has not changed since is not worked out again.
  LevelContent(const std::shared_ptr<const Trace>& trace, const Level& level, const LevelContent* before = nullptr);

  [[nodiscard]] const std::vector<ContentLane>& lanes() const noexcept { return lanes_; }
  // Of all lanes; empty where there is only one, which needs none.
  [[nodiscard]] const IntervalUnion& merged() const noexcept { return merged_; }
  // Time within the window in which at least one event runs. O(log n).
  [[nodiscard]] Nanoseconds busy(TimeRange window) const noexcept;
  // Events that start within the window. O(lanes · log n).
  [[nodiscard]] std::uint64_t count(TimeRange window) const noexcept;

 private:
  void merge(const LevelContent* before);

  std::vector<ContentLane> lanes_;
  IntervalUnion merged_;
};

// Contents of one trace, made when first asked for and kept. One thread at a time.
class ContentCache {
 public:
  ContentCache() = default;
  explicit ContentCache(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}
  // The same recording has grown. Contents are brought up to date when they are next asked for; references to them end here.
  void grow(std::shared_ptr<const Trace> trace);
  // First call for a level: O(events of its lanes) where it combines or filters lanes, else O(segments). The reference stays valid until
  // grow().
  const LevelContent& content(const Level& level);

 private:
  std::shared_ptr<const Trace> trace_;
  using Contents = std::map<std::vector<std::uint64_t>, std::unique_ptr<LevelContent>>;
  Contents contents_;
  Contents before_;  // of the snapshot before, as far as not yet brought up to date
};

}  // namespace lanescope::timeline
