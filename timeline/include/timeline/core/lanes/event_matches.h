// The events whose names contain a text, and the samples and backtraces whose chains have a function with such a name: the results that a search highlights and
// steps through.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/lanes/lane_subset.h"

namespace lanescope::timeline {

// For one trace; lanes are searched on demand. Threads: one at a time.
class EventMatches {
 public:
  EventMatches() = default;
  // Ignores case; "" matches nothing. O(names).
  EventMatches(std::shared_ptr<const Trace> trace, std::string text);
  // Continues with a later state of the same recording. Repeated queries cost only the events that were added.
  void grow(std::shared_ptr<const Trace> trace);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool matches(NameId name) const noexcept { return name < matching_.size() && matching_[name] != 0; }
  // True if the events of the lane are in memory, so that in_lane() does not wait for the disk.
  [[nodiscard]] bool is_at_hand(LaneId lane) const noexcept { return trace_->lane(lane).holds_segments(); }
  // How many events in_lane() would look at for lanes that are at hand and were not searched yet. O(lanes).
  [[nodiscard]] std::uint64_t events_to_search() const;
  // Searches these lanes, until asked to stop.
  void search_lanes(const std::stop_token& stop);
  // First call for a lane: O(its events). The reference stays valid until grow().
  const LaneSubset& in_lane(LaneId lane);
  // Of all lanes. O(events) for lanes that were not searched before.
  [[nodiscard]] std::uint64_t count();

  enum class Direction { kNext, kPrevious };
  // The match after or before an event, by start; after the last match comes the first, and the reverse. If `from` is not valid: the match nearest to `time`.
  // Nothing if nothing matches. O(lanes · log n) once all lanes were searched.
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
