#include "timeline/core/level_content.h"

#include <algorithm>

namespace lanescope::timeline {
namespace {

// The events of a lane that a source takes, as a lane of their own.
ContentLane filtered(const Trace& trace, const LaneSource& source) {
  ContentLane content;
  const Lane& lane = trace.lane(source.lane);
  std::vector<std::shared_ptr<const LaneSegment>> segments;
  std::vector<Event> pending;
  const auto flush = [&] {
    if (!pending.empty()) segments.push_back(std::make_shared<LaneSegment>(pending));
    pending.clear();
  };
  for (EventIndex index = 0; index < lane.size(); ++index) {
    if (source.name && lane.name(index) != *source.name) continue;
    const Event event = lane.event(index);
    if (!source.matches(trace, event)) continue;
    content.selected.push_back(index);
    pending.push_back(event);
    if (pending.size() == LaneSegment::kCapacity) flush();
  }
  flush();
  content.lane = std::make_shared<Lane>(std::move(segments));
  return content;
}

std::vector<std::uint64_t> cache_key(const Level& level) {
  std::vector<std::uint64_t> key;
  for (const LaneSource& source : level) {
    key.push_back(source.lane);
    key.push_back(source.name ? std::uint64_t{1} + *source.name : 0);
    key.push_back(source.memory ? std::uint64_t{1} + static_cast<std::uint64_t>(*source.memory) : 0);
  }
  return key;
}

}  // namespace

LevelContent::LevelContent(std::shared_ptr<const Trace> trace, const Level& level) {
  std::vector<const Lane*> merged;
  for (const LaneSource& source : level) {
    ContentLane content;
    if (source.whole())
      content.lane = std::shared_ptr<const Lane>(trace, &trace->lane(source.lane));
    else
      content = filtered(*trace, source);
    if (content.lane->empty()) continue;
    content.kind = trace->track_of(source.lane).key.kind;
    content.source = source.lane;
    merged.push_back(content.lane.get());
    lanes_.push_back(std::move(content));
  }
  if (merged.size() > 1) merged_ = IntervalUnion(merged);
}

Nanoseconds LevelContent::busy(TimeRange window) const noexcept {
  if (lanes_.empty()) return 0;
  if (lanes_.size() == 1) return lanes_.front().lane->busy(window);
  return merged_.busy_before(window.end) - merged_.busy_before(window.begin);
}

std::uint64_t LevelContent::count(TimeRange window) const noexcept {
  std::uint64_t events = 0;
  for (const ContentLane& lane : lanes_) events += lane.lane->lower_bound(window.end) - lane.lane->lower_bound(window.begin);
  return events;
}

const LevelContent& ContentCache::content(const Level& level) {
  std::unique_ptr<LevelContent>& entry = contents_[cache_key(level)];
  if (!entry) entry = std::make_unique<LevelContent>(trace_, level);
  return *entry;
}

}  // namespace lanescope::timeline
