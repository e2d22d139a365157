// The events of some lanes that pass a filter. Internal to model/events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "large_array.h"
#include "model/events/event_pivot.h"
#include "model/events/event_query.h"

namespace lanescope {

// Events of a lane that may pass a filter: [first, last).
struct Stretch {
  LaneId lane;
  EventIndex first, last;
  bool chained;  // its events have call chains, whose names count as well
};

inline std::size_t event_count(std::span<const Stretch> stretches) noexcept {
  std::size_t count = 0;
  for (const Stretch& stretch : stretches) count += stretch.last - stretch.first;
  return count;
}

inline void reserve(std::vector<EventRef>& events, std::size_t size) {
  events.reserve(size);
  prefer_large_pages(events.data(), size * sizeof(EventRef));
}

// Threads: any number may gather at once. The trace and the filter must outlive it.
class Passage {
 public:
  // O(names + lanes · log n).
  Passage(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter);

  [[nodiscard]] const std::vector<Stretch>& stretches() const noexcept { return stretches_; }
  // For the case that all events pass, so that their number is known.
  void reserve_for_all(std::vector<EventRef>& events, std::size_t most) const;
  // Appends the passing events of a part of a stretch, until there are more than `most`.
  void gather(const Stretch& stretch, std::vector<EventRef>& into, const std::stop_token& stop, std::size_t most) const;

 private:
  [[nodiscard]] bool is_found(const Lane& lane, bool chained, EventIndex i) const {
    return names_[lane.name(i)] != 0 || (chained && chains_[trace_.sample_detail(lane.detail(i)).call_node] != 0);
  }

  const Trace& trace_;
  const EventFilter& filter_;
  std::vector<std::uint8_t> names_;      // by id: whether it has the text; empty if any name passes
  std::vector<std::uint8_t> chains_;     // the same by call node
  std::optional<HasValues> has_values_;  // none if the filter has no values
  std::vector<Stretch> stretches_;
};

}  // namespace lanescope
