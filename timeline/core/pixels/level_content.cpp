#include "timeline/core/pixels/level_content.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr unsigned kKeptUpToDate = 8;  // growths: overviews are painted less often than a recording grows

std::array<std::uint64_t, 3> cache_key(const Level& level) {
  std::array<std::uint64_t, 3> key{level.size(), 0, 0};
  const auto add = [&key](std::uint64_t value) {
    constexpr std::uint64_t kOdd[] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu};
    for (std::size_t i = 0; i < 2; ++i) {
      std::uint64_t& hash = key[i + 1];
      hash = (hash ^ value) * kOdd[i];
      hash ^= hash >> (29 + 3 * i);
    }
  };
  for (const LaneSource& source : level) {
    add(source.lane);
    add(source.name ? std::uint64_t{1} + *source.name : 0);
    add(source.memory ? std::uint64_t{1} + static_cast<std::uint64_t>(*source.memory) : 0);
    add(source.on_gpu ? std::uint64_t{1} + *source.on_gpu : 0);
    add(source.call_depth ? std::uint64_t{1} + *source.call_depth : 0);
  }
  return key;
}

std::vector<const ContentLane*> by_source(const std::vector<ContentLane>& lanes) {
  std::vector<const ContentLane*> sorted;
  for (const ContentLane& lane : lanes) sorted.push_back(&lane);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ContentLane* a, const ContentLane* b) { return a->source < b->source; });
  return sorted;
}

}  // namespace

LevelContent::LevelContent(const std::shared_ptr<const Trace>& trace, const Level& level) {
  LaneIndexes indexes(trace);
  *this = LevelContent(indexes, level);
  merge(nullptr, 0);
}

LevelContent::LevelContent(LaneIndexes& indexes, const Level& level) {
  const std::shared_ptr<const Trace>& trace = indexes.trace();
  if (indexes.lanes() == Lanes::kOutlines && holds_events(*trace)) uniting_ = Uniting::kBounded;
  for (const LaneSource& source : level) {
    ContentLane content;
    content.kind = trace->track_of(source.lane).key.kind;
    content.source = source.lane;
    if (source.on_gpu) {
      const auto all = indexes.projection(source);
      if (!all) continue;
      for (const ProjectedLane& each : *all) {
        content.lane = each.lane;
        content.projected = std::shared_ptr<const std::vector<EventIndex>>(all, &each.sources);
        lanes_.push_back(content);
      }
      continue;
    }
    if (source.call_depth) {
      const std::shared_ptr<const ProjectedLane> calls = indexes.calls(source);
      if (!calls || calls->sources.empty()) continue;
      content.lane = calls->lane;
      content.projected = {calls, &calls->sources};
      lanes_.push_back(std::move(content));
      continue;
    }
    content.lane = indexes.lane(source);
    if (!source.whole()) content.subset = indexes.subset(source);
    if (content.size() > 0) lanes_.push_back(std::move(content));
  }
  if (lanes_.size() <= kManyLanes || !holds_segments()) return;
  extents_.reserve(lanes_.size());
  for (const ContentLane& content : lanes_)
    extents_.push_back(content.visit([&](const auto& events) {
      constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
      if (events.size() == 0) return LaneExtent{{kNever, kNever}};
      return LaneExtent{{events.start(0), events.end(events.size() - 1)}, events.size() == 1, content.kind, events.name(0)};
    }));
}

Nanoseconds LevelContent::unchanged_until(LaneIndexes& indexes, const LevelContent& before) const {
  Nanoseconds until = std::numeric_limits<Nanoseconds>::max();
  // The first event that only one of the states has.
  const auto compare = [&](const std::vector<ContentLane>& all, const std::vector<ContentLane>& others) {
    const std::vector<const ContentLane*> sorted = by_source(others);
    for (const ContentLane& content : all) {
      const auto other =
          std::lower_bound(sorted.begin(), sorted.end(), content.source, [](const ContentLane* each, LaneId source) { return each->source < source; });
      const bool is_known = other != sorted.end() && (*other)->source == content.source;
      const EventIndex shared = is_known ? indexes.common_prefix(*(*other)->lane, *content.lane) : 0;
      if (shared < content.lane->size()) until = std::min(until, content.lane->start(shared));
    }
  };
  compare(lanes_, before.lanes_);
  compare(before.lanes_, lanes_);
  return until;
}

void LevelContent::merge(const LevelContent* before, Nanoseconds unchanged_until) {
  if (lanes_.size() < 2 || uniting_ == Uniting::kBounded || !holds_segments()) return;
  const std::vector<BusyLane> lanes = busy_lanes();
  merged_ = before != nullptr && before->lanes_.size() > 1 ? BusyUnion(lanes, before->merged_, unchanged_until) : BusyUnion(lanes);
}

std::vector<BusyLane> LevelContent::busy_lanes() const {
  std::vector<BusyLane> lanes;
  for (const ContentLane& content : lanes_) lanes.push_back({content.lane.get(), content.subset.get()});
  return lanes;
}

bool LevelContent::holds_segments() const noexcept {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const ContentLane& content) { return content.lane->holds_segments(); });
}

void LevelContent::unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) const {
  std::vector<const ContentLane*> all;
  for (const ContentLane& content : lanes_) all.push_back(&content);
  unite(times, busy, all);
}

void LevelContent::unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy, std::span<const ContentLane* const> running) const {
  if (running.size() < 2) return;
  if (uniting_ == Uniting::kBounded) {
    for (std::size_t i = 0; i < busy.size(); ++i) busy[i] = std::min(busy[i], times[i + 1] - times[i]);
  } else if (holds_segments()) {
    merged_.unite(times, busy);
  } else {
    std::vector<BusyLane> lanes;
    for (const ContentLane* content : running) lanes.push_back({content->lane.get(), content->subset.get()});
    unite_events(lanes, times, busy);
  }
}

Nanoseconds LevelContent::busy(TimeRange window) const noexcept {
  Nanoseconds busy[] = {0};
  for (const ContentLane& content : lanes_) busy[0] += content.visit([window](const auto& lane) { return lane.busy(window); });
  unite(std::array{window.begin, window.end}, busy);
  return busy[0];
}

void LevelContent::busy(std::span<const Nanoseconds> edges, std::span<Nanoseconds> into) const noexcept {
  std::fill(into.begin(), into.end(), 0);
  for (const ContentLane& content : lanes_)
    content.visit([&](const auto& lane) {
      if (lane.size() == 0) return;
      const auto behind_first = std::upper_bound(edges.begin(), edges.end(), lane.start(0));
      const auto begin = behind_first == edges.begin() ? edges.begin() : behind_first - 1;
      const Nanoseconds end = lane.end(lane.size() - 1);
      for (auto edge = begin; edge + 1 < edges.end() && *edge < end; ++edge)
        into[static_cast<std::size_t>(edge - edges.begin())] += lane.busy({*edge, *(edge + 1)});
    });
  unite(edges, into);
}

std::uint64_t LevelContent::count(TimeRange window) const noexcept {
  std::uint64_t events = 0;
  for (const ContentLane& content : lanes_)
    events += content.visit([window](const auto& lane) { return lane.lower_bound(window.end) - lane.lower_bound(window.begin); });
  return events;
}

void ContentCache::run(const std::vector<Merge>& merges) {
  work_in_parts(merges.size(), [&](std::size_t index) { merges[index].content->merge(merges[index].before, merges[index].unchanged_until); });
}

std::shared_ptr<LevelContent> ContentCache::start(const Level& level, const LevelContent* before, std::vector<Merge>& merges) {
  const std::shared_ptr<LevelContent> content(new LevelContent(indexes_, level));
  merges.push_back({content.get(), before, before != nullptr ? content->unchanged_until(indexes_, *before) : 0});
  return content;
}

void ContentCache::take_over(const ContentCache& other) {
  indexes_.take_over(other.indexes_);
  calls_ = std::max(calls_, other.calls_);
  for (const Contents* contents : {&other.contents_, &other.before_})
    for (const auto& [key, entry] : *contents) {
      const auto own = contents_.find(key);
      if (own == contents_.end()) {
        before_.try_emplace(key, entry);
      } else {  // it may have been requested there since
        own->second.used_in = std::max(own->second.used_in, entry.used_in);
        own->second.growths = std::min(own->second.growths, entry.growths + 1);
      }
    }
}

void ContentCache::add(const ContentCache& other) {
  indexes_.add(other.indexes_);
  for (const auto& [key, entry] : other.contents_)
    if (const auto [own, is_new] = contents_.try_emplace(key, entry); is_new) own->second.used_in = calls_;
}

std::uint64_t ContentCache::events_of(const std::vector<Contents::iterator>& made) const {
  std::uint64_t events = 0;
  std::set<LaneId> sorted;
  for (const auto& entry : made) {
    if (before_.contains(entry->first)) continue;
    for (const LaneSource& source : entry->second.level) {
      if (source.on_gpu || source.call_depth) continue;
      const std::optional<EventIndex> size = indexes_.known_size(source);
      if (size && entry->second.level.size() > 1) events += *size;  // for their union
      if (!size && sorted.insert(source.lane).second) events += indexes_.lane(source.lane)->size();
    }
  }
  return events;
}

void ContentCache::grow(std::shared_ptr<const Trace> trace, Projecting projecting) {
  indexes_.grow(std::move(trace), projecting);
  contents_.merge(before_);  // entries that were not requested since are still useful
  before_ = std::exchange(contents_, {});

  std::vector<LaneSource> sources;
  for (const auto& [key, entry] : before_)
    if (entry.growths < kKeptUpToDate) sources.insert(sources.end(), entry.level.begin(), entry.level.end());
  indexes_.prepare(sources);
  std::vector<Merge> merges;
  for (auto& [key, entry] : before_) {
    if (entry.growths >= kKeptUpToDate) continue;
    contents_.emplace(key, Entry{entry.level, start(entry.level, entry.content.get(), merges), entry.growths + 1, entry.used_in});
  }
  run(merges);
  for (const auto& [key, entry] : contents_) before_.erase(key);
}

std::vector<const LevelContent*> ContentCache::contents(std::span<const Level* const> levels) {
  return *contents_within(std::numeric_limits<std::uint64_t>::max(), levels);
}

std::optional<std::vector<const LevelContent*>> ContentCache::contents_within(std::uint64_t most, std::span<const Level* const> levels) {
  std::vector<const LevelContent*> found;
  std::vector<Contents::iterator> entries, made;
  std::vector<LaneSource> sources;
  for (const Level* level : levels) {
    const auto [entry, is_new] = contents_.try_emplace(cache_key(*level));
    entries.push_back(entry);
    if (!is_new) continue;
    entry->second.level = *level;
    made.push_back(entry);
    sources.insert(sources.end(), level->begin(), level->end());
  }
  if (most < std::numeric_limits<std::uint64_t>::max() && events_of(made) > most) {
    for (const auto& entry : made) contents_.erase(entry);
    return std::nullopt;
  }
  indexes_.prepare(sources);
  std::vector<Merge> merges;
  std::vector<Contents::node_type> old;  // until they are merged
  for (const auto& entry : made) {
    const auto before = before_.find(entry->first);
    entry->second.content = start(entry->second.level, before == before_.end() ? nullptr : before->second.content.get(), merges);
    if (before != before_.end()) old.push_back(before_.extract(before));
  }
  run(merges);
  for (const auto& entry : entries) {
    entry->second.growths = 0;
    entry->second.used_in = calls_;
    found.push_back(entry->second.content.get());
  }
  return found;
}

const LevelContent& ContentCache::content(const Level& level) {
  const Level* const only[] = {&level};
  return *contents(only).front();
}

const LevelContent* ContentCache::find(const Level& level) const {
  const auto found = contents_.find(cache_key(level));
  return found != contents_.end() ? found->second.content.get() : nullptr;
}

bool ContentCache::forget_unused() {
  ++calls_;
  std::size_t forgotten = 0;
  for (Contents* all : {&contents_, &before_}) forgotten += std::erase_if(*all, [this](const auto& entry) { return entry.second.used_in + kKept < calls_; });
  if (forgotten > 0) indexes_.forget_unused();
  return forgotten > 0;
}

std::size_t ContentCache::memory_bytes() const noexcept {
  std::size_t bytes = indexes_.memory_bytes();
  for (const Contents* contents : {&contents_, &before_})
    for (const auto& [key, entry] : *contents) bytes += entry.content->merged().memory_bytes();
  return bytes;
}

}  // namespace lanescope::timeline
