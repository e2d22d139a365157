// The events whose names contain a text, and the samples and backtraces with a function of such a name in their chains: what a search
// highlights and walks through.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/lanes/lane_subset.h"

namespace lanescope::timeline {

// Of one trace; lanes are searched when first asked for. One thread at a time.
class EventMatches {
 public:
  EventMatches() = default;
  // Without regard to case; "" matches nothing. O(names).
  EventMatches(std::shared_ptr<const Trace> trace, std::string text);
  // The same recording has grown. What is asked for again costs the events that came since.
  void grow(std::shared_ptr<const Trace> trace);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool matches(NameId name) const noexcept { return name < matching_.size() && matching_[name] != 0; }
  // Whether a lane's events are in memory, so that in_lane() need not wait for the disk.
  [[nodiscard]] bool is_at_hand(LaneId lane) const noexcept { return trace_->lane(lane).holds_segments(); }
  // First call for a lane: O(its events). The reference stays valid until grow().
  const LaneSubset& in_lane(LaneId lane);
  // Of all lanes. O(events) where they were not asked for before.
  [[nodiscard]] std::uint64_t count();

  enum class Direction { kNext, kPrevious };
  // The match after or before an event, by start; beyond the last one the first, and the other way round. `from`, where not valid: the
  // nearest to `time`. None where nothing matches. O(lanes · log n) once all lanes were asked for.
  [[nodiscard]] std::optional<EventRef> find(EventRef from, Nanoseconds time, Direction direction);

 private:
  void match_names();
  void match_chains();

  std::shared_ptr<const Trace> trace_;
  std::string text_;
  std::vector<std::uint8_t> matching_;         // by name
  std::vector<std::uint8_t> matching_chains_;  // by call node
  std::map<LaneId, LaneSplit> lanes_;
  std::map<LaneId, LaneSplit> before_;  // of earlier snapshots
};

}  // namespace lanescope::timeline
