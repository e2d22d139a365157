#include "timeline/core/level_content.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr unsigned kKeptUpToDate = 8;  // growths: overviews are painted less often than a recording grows

std::vector<std::uint64_t> cache_key(const Level& level) {
  std::vector<std::uint64_t> key;
  for (const LaneSource& source : level) {
    key.push_back(source.lane);
    key.push_back(source.name ? std::uint64_t{1} + *source.name : 0);
    key.push_back(source.memory ? std::uint64_t{1} + static_cast<std::uint64_t>(*source.memory) : 0);
    key.push_back(source.on_gpu ? std::uint64_t{1} + *source.on_gpu : 0);
  }
  return key;
}

}  // namespace

LevelContent::LevelContent(const std::shared_ptr<const Trace>& trace, const Level& level) {
  LaneIndexes indexes(trace);
  *this = LevelContent(indexes, level);
  merge(nullptr, 0);
}

LevelContent::LevelContent(LaneIndexes& indexes, const Level& level) {
  const std::shared_ptr<const Trace>& trace = indexes.trace();
  for (const LaneSource& source : level) {
    ContentLane content;
    content.kind = trace->track_of(source.lane).key.kind;
    content.source = source.lane;
    if (source.on_gpu) {
      const auto all = indexes.projection(source);
      for (const ProjectedLane& each : *all) {
        content.lane = each.lane;
        content.projected = std::shared_ptr<const std::vector<EventIndex>>(all, &each.sources);
        lanes_.push_back(content);
      }
      continue;
    }
    content.lane = std::shared_ptr<const Lane>(trace, &trace->lane(source.lane));
    if (!source.whole()) content.subset = indexes.subset(source);
    if (content.size() > 0) lanes_.push_back(std::move(content));
  }
}

Nanoseconds LevelContent::unchanged_until(LaneIndexes& indexes, const LevelContent& before) const {
  Nanoseconds until = std::numeric_limits<Nanoseconds>::max();
  // The first event of one state that the other has not.
  const auto compare = [&](const std::vector<ContentLane>& all, const std::vector<ContentLane>& others) {
    for (const ContentLane& content : all) {
      const auto other = std::find_if(others.begin(), others.end(), [&](const ContentLane& each) { return each.source == content.source; });
      const EventIndex shared = other == others.end() ? 0 : indexes.common_prefix(*other->lane, *content.lane);
      if (shared < content.lane->size()) until = std::min(until, content.lane->start(shared));
    }
  };
  compare(lanes_, before.lanes_);
  compare(before.lanes_, lanes_);
  return until;
}

void LevelContent::merge(const LevelContent* before, Nanoseconds unchanged_until) {
  if (lanes_.size() < 2) return;
  std::vector<BusyLane> lanes;
  for (const ContentLane& content : lanes_) lanes.push_back({content.lane.get(), content.subset.get()});
  merged_ = before != nullptr && before->lanes_.size() > 1 ? IntervalUnion(lanes, before->merged_, unchanged_until) : IntervalUnion(lanes);
}

Nanoseconds LevelContent::busy(TimeRange window) const noexcept {
  if (lanes_.empty()) return 0;
  if (lanes_.size() == 1) return lanes_.front().visit([window](const auto& lane) { return lane.busy(window); });
  return merged_.busy_before(window.end) - merged_.busy_before(window.begin);
}

std::uint64_t LevelContent::count(TimeRange window) const noexcept {
  std::uint64_t events = 0;
  for (const ContentLane& content : lanes_)
    events += content.visit([window](const auto& lane) { return lane.lower_bound(window.end) - lane.lower_bound(window.begin); });
  return events;
}

void ContentCache::grow(std::shared_ptr<const Trace> trace) {
  indexes_.grow(std::move(trace));
  contents_.merge(before_);  // those that nobody asked for since are still of use
  before_ = std::exchange(contents_, {});

  struct Merge {
    LevelContent* content;
    const LevelContent* before;
    Nanoseconds unchanged_until;
  };
  std::vector<Merge> merges;
  for (auto& [key, entry] : before_) {
    if (entry.growths >= kKeptUpToDate) continue;
    auto content = std::unique_ptr<LevelContent>(new LevelContent(indexes_, entry.level));
    merges.push_back({content.get(), entry.content.get(), content->unchanged_until(indexes_, *entry.content)});
    contents_.emplace(key, Entry{entry.level, std::move(content), entry.growths + 1});
  }
  parallel_for(merges.size(),
               [&](std::size_t index) { merges[index].content->merge(merges[index].before, merges[index].unchanged_until); });
  for (const auto& [key, entry] : contents_) before_.erase(key);
}

const LevelContent& ContentCache::content(const Level& level) {
  std::vector<std::uint64_t> key = cache_key(level);
  const auto [found, is_new] = contents_.try_emplace(std::move(key));
  Entry& entry = found->second;
  entry.growths = 0;
  if (!is_new) return *entry.content;
  entry.level = level;
  entry.content.reset(new LevelContent(indexes_, level));
  const auto before = before_.extract(found->first);
  if (before.empty()) {
    entry.content->merge(nullptr, 0);
  } else {
    const LevelContent& old = *before.mapped().content;
    entry.content->merge(&old, entry.content->unchanged_until(indexes_, old));
  }
  return *entry.content;
}

std::size_t ContentCache::memory_bytes() const noexcept {
  std::size_t bytes = indexes_.memory_bytes();
  for (const Contents* contents : {&contents_, &before_})
    for (const auto& [key, entry] : *contents) bytes += entry.content->merged().memory_bytes();
  return bytes;
}

}  // namespace lanescope::timeline
