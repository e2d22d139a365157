#include "timeline/core/level_content.h"

#include <algorithm>
#include <limits>

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

// How many events two states of a lane have in common from the beginning on, as far as their segments are the same.
EventIndex shared_prefix(const Lane& before, const Lane& after) {
  const auto of_before = before.segments();
  const auto of_after = after.segments();
  EventIndex events = 0;
  for (std::size_t index = 0; index < std::min(of_before.size(), of_after.size()) && of_before[index] == of_after[index]; ++index)
    events += of_after[index]->size();
  return events;
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

LevelContent::LevelContent(const std::shared_ptr<const Trace>& trace, const Level& level, const LevelContent* before) {
  for (const LaneSource& source : level) {
    ContentLane content;
    if (source.whole())
      content.lane = std::shared_ptr<const Lane>(trace, &trace->lane(source.lane));
    else
      content = filtered(*trace, source);
    if (content.lane->empty()) continue;
    content.kind = trace->track_of(source.lane).key.kind;
    content.source = source.lane;
    lanes_.push_back(std::move(content));
  }
  if (lanes_.size() > 1) merge(before);
}

void LevelContent::merge(const LevelContent* before) {
  std::vector<const Lane*> lanes;
  for (const ContentLane& content : lanes_) lanes.push_back(content.lane.get());
  if (before == nullptr || before->lanes_.size() < 2) {
    merged_ = IntervalUnion(lanes);
    return;
  }
  Nanoseconds unchanged_until = std::numeric_limits<Nanoseconds>::max();
  // The first event of one state that the other has not.
  const auto compare = [&](const std::vector<ContentLane>& all, const std::vector<ContentLane>& others) {
    for (const ContentLane& content : all) {
      const auto other = std::find_if(others.begin(), others.end(), [&](const ContentLane& each) { return each.source == content.source; });
      const EventIndex shared = other == others.end() ? 0 : shared_prefix(*other->lane, *content.lane);
      if (shared < content.lane->size()) unchanged_until = std::min(unchanged_until, content.lane->start(shared));
    }
  };
  compare(lanes_, before->lanes_);
  compare(before->lanes_, lanes_);
  merged_ = IntervalUnion(lanes, before->merged_, unchanged_until);
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

void ContentCache::grow(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  contents_.merge(before_);  // those that nobody asked for since are still of use
  before_ = std::move(contents_);
  contents_.clear();
}

const LevelContent& ContentCache::content(const Level& level) {
  std::vector<std::uint64_t> key = cache_key(level);
  if (const auto found = contents_.find(key); found != contents_.end()) return *found->second;
  const auto before = before_.extract(key);
  auto content = std::make_unique<LevelContent>(trace_, level, before.empty() ? nullptr : before.mapped().get());
  return *contents_.emplace(std::move(key), std::move(content)).first->second;
}

}  // namespace lanescope::timeline
