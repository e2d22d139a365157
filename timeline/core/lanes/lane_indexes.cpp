#include "timeline/core/lanes/lane_indexes.h"

#include <algorithm>

#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr EventIndex kOutlineRun = 1'024;  // events, as in compacted files

// Each run of events as one event.
std::shared_ptr<const Lane> outline_in_runs(const Lane& lane) {
  std::vector<Event> runs;
  for (EventIndex first = 0; first < lane.size(); first += std::min(kOutlineRun, lane.size() - first)) {
    const EventIndex last = first + std::min(kOutlineRun, lane.size() - first);
    const Nanoseconds busy = lane.busy({lane.start(first), lane.end(last - 1)});
    const LaneSummary summary = lane.summarize(first, last);
    runs.push_back({lane.start(first), busy, summary.weight > 0 ? summary.dominant : 0, 0, 0});
  }
  std::vector<std::shared_ptr<const LaneSegment>> segments;
  for (std::size_t first = 0; first < runs.size(); first += LaneSegment::kCapacity)
    segments.push_back(std::make_shared<const LaneSegment>(std::span(runs).subspan(first, std::min<std::size_t>(LaneSegment::kCapacity, runs.size() - first))));
  return std::make_shared<const Lane>(std::move(segments));
}

std::size_t memory_of(const ProjectedLane& lane) { return lane.lane->memory_bytes() + lane.sources.capacity() * sizeof(EventIndex); }

}  // namespace

void LaneIndexes::grow(std::shared_ptr<const Trace> trace, Projecting projecting) {
  trace_ = std::move(trace);
  projecting_ = projecting;
  lacks_projections_ = false;
  splits_.merge(before_);  // entries that were not requested since are still useful
  before_ = std::exchange(splits_, {});
  for (auto& [key, projection] : projections_)
    if (projection) projections_before_[key] = std::move(projection);
  projections_.clear();
  for (auto& [lane, chart] : charts_)
    if (chart) charts_before_[lane] = std::move(chart);
  charts_.clear();
  prefixes_.clear();
}

void LaneIndexes::take_over(const LaneIndexes& other) {
  for (const Splits* splits : {&other.splits_, &other.before_})
    for (const auto& [key, split] : *splits)
      if (split && !splits_.contains(key)) before_.try_emplace(key, split);
}

void LaneIndexes::add(const LaneIndexes& other) {
  splits_.insert(other.splits_.begin(), other.splits_.end());
  const auto add_known = [](auto& into, const auto& from) {
    for (const auto& [key, known] : from)
      if (known) into[key] = known;
  };
  add_known(projections_, other.projections_);
  add_known(charts_, other.charts_);
}

std::shared_ptr<const Lane> LaneIndexes::sorted_lane(LaneId id) {
  if (lanes_ == Lanes::kWhole || !trace_->lane(id).holds_segments()) return lane(id);
  std::shared_ptr<const Lane>& outline = outlines_[id];
  if (!outline) outline = outline_in_runs(trace_->lane(id));
  return outline;
}

std::optional<EventIndex> LaneIndexes::known_size(const LaneSource& source) const {
  if (source.whole()) return trace_->lane(source.lane).size();
  const auto found = splits_.find({source.lane, split_by(source)});
  if (found == splits_.end() || !found->second) return std::nullopt;
  return found->second->subset(key_of(source)).size();
}

LaneSplit::Key LaneIndexes::key_of(const LaneSource& source) noexcept { return source.name ? *source.name : static_cast<LaneSplit::Key>(*source.memory); }

std::shared_ptr<const LaneSplit> LaneIndexes::split(std::shared_ptr<const Lane> lane, SplitBy by, const LaneSplit* before) const {
  const LaneSplit::KeyOf by_name = [](const Lane& events, EventIndex first, std::span<LaneSplit::Key> into) {
    for (LaneSplit::Key& key : into) key = events.name(first++);
  };
  const LaneSplit::KeyOf by_class = [this](const Lane& events, EventIndex first, std::span<LaneSplit::Key> into) {
    if (lanes_ == Lanes::kOutlines) return std::fill(into.begin(), into.end(), kNone);  // outlines have no details
    for (LaneSplit::Key& key : into) key = static_cast<LaneSplit::Key>(memory_class(trace_->memory_detail(events.detail(first++))));
  };
  return std::make_shared<const LaneSplit>(std::move(lane), by == SplitBy::kName ? by_name : by_class, before);
}

void LaneIndexes::prepare(std::span<const LaneSource> sources) {
  std::vector<Splits::iterator> new_splits;
  std::map<GpuId, std::vector<LaneId>> new_projections;
  std::vector<Charts::iterator> new_charts;
  for (const LaneSource& source : sources) {
    if (source.whole()) continue;
    if (source.on_gpu) {
      const auto [entry, is_new] = projections_.try_emplace({source.lane, *source.on_gpu});
      if (is_new && projecting_ == Projecting::kWhenAsked) new_projections[*source.on_gpu].push_back(source.lane);
      if (!is_new || projecting_ == Projecting::kWhenAsked) continue;
      const auto before = projections_before_.find(entry->first);
      if (before != projections_before_.end()) entry->second = before->second;
      lacks_projections_ = true;
    } else if (source.call_depth) {
      const auto [entry, is_new] = charts_.try_emplace(source.lane);
      if (is_new && projecting_ == Projecting::kWhenAsked) new_charts.push_back(entry);
      if (!is_new || projecting_ == Projecting::kWhenAsked) continue;
      const auto before = charts_before_.find(source.lane);
      if (before != charts_before_.end()) entry->second = before->second;
      lacks_projections_ = true;
    } else if (const auto [entry, is_new] = splits_.try_emplace({source.lane, split_by(source)}); is_new) {
      new_splits.push_back(entry);
    }
  }
  std::vector<std::shared_ptr<const Lane>> sorted;
  for (const auto& entry : new_splits) sorted.push_back(sorted_lane(entry->first.first));
  work_in_parts(new_splits.size(), [&](std::size_t index) {
    const auto& [lane, by] = new_splits[index]->first;
    const auto before = before_.find({lane, by});
    new_splits[index]->second = split(sorted[index], by, before == before_.end() ? nullptr : before->second.get());
  });
  for (const auto& entry : new_splits) before_.erase(entry->first);
  if (!new_charts.empty()) {
    const samples::ShownCalls shown(trace_->call_stacks(), samples::CallChoice::kWithoutInterpreter);
    work_in_parts(new_charts.size(), [&](std::size_t index) {
      new_charts[index]->second = std::make_shared<const StackChart>(stack_chart(*trace_, new_charts[index]->first, shown));
    });
  }
  for (const auto& [gpu, lanes] : new_projections) {
    auto projected = project_on_gpu(*trace_, lanes, gpu);
    for (std::size_t index = 0; index < lanes.size(); ++index)
      projections_[{lanes[index], gpu}] = std::make_shared<const std::vector<ProjectedLane>>(std::move(projected[index]));
  }
}

void LaneIndexes::forget_unused() {
  const auto unused = [](const auto& entry) { return entry.second.use_count() == 1; };
  std::erase_if(splits_, unused);
  std::erase_if(before_, unused);
  std::erase_if(projections_before_, unused);
  std::erase_if(projections_, unused);
  std::erase_if(charts_, unused);
  std::erase_if(charts_before_, unused);
}

std::shared_ptr<const LaneSubset> LaneIndexes::subset(const LaneSource& source) {
  prepare({&source, 1});
  const std::shared_ptr<const LaneSplit>& split = splits_.at({source.lane, split_by(source)});
  return std::shared_ptr<const LaneSubset>(split, &split->subset(key_of(source)));
}

std::shared_ptr<const std::vector<ProjectedLane>> LaneIndexes::projection(const LaneSource& source) {
  prepare({&source, 1});
  return projections_.at({source.lane, *source.on_gpu});
}

std::shared_ptr<const ProjectedLane> LaneIndexes::calls(const LaneSource& source) {
  prepare({&source, 1});
  const std::shared_ptr<const StackChart>& chart = charts_.at(source.lane);
  if (!chart) return nullptr;
  if (*source.call_depth == kInnermostCall) return {chart, &chart->innermost};
  if (*source.call_depth >= chart->by_depth.size()) return nullptr;
  return {chart, &chart->by_depth[*source.call_depth]};
}

EventIndex LaneIndexes::common_prefix(const Lane& before, const Lane& now) {
  const auto [entry, is_new] = prefixes_.try_emplace({&before, &now});
  if (is_new) entry->second = now.common_prefix(before);
  return entry->second;
}

std::size_t LaneIndexes::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto* splits : {&splits_, &before_})
    for (const auto& [key, split] : *splits) bytes += split->memory_bytes();
  for (const auto& [key, lanes] : projections_)
    for (const ProjectedLane& each : lanes ? *lanes : std::vector<ProjectedLane>()) bytes += memory_of(each);
  for (const auto& [lane, chart] : charts_) {
    if (!chart) continue;
    bytes += memory_of(chart->innermost);
    for (const ProjectedLane& each : chart->by_depth) bytes += memory_of(each);
  }
  return bytes;
}

}  // namespace lanescope::timeline
