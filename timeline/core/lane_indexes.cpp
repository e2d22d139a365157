#include "timeline/core/lane_indexes.h"

namespace lanescope::timeline {

void LaneIndexes::grow(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  splits_.merge(before_);  // those that nobody asked for since are still of use
  before_ = std::exchange(splits_, {});
  projections_.clear();
  prefixes_.clear();
}

std::shared_ptr<const LaneSubset> LaneIndexes::subset(const LaneSource& source) {
  const SplitBy by = source.name ? SplitBy::kName : SplitBy::kMemoryClass;
  std::shared_ptr<const LaneSplit>& split = splits_[{source.lane, by}];
  if (!split) {
    const auto before = before_.extract({source.lane, by});
    const LaneSplit::KeyOf by_name = [](const Lane& lane, EventIndex first, std::span<LaneSplit::Key> into) {
      for (LaneSplit::Key& key : into) key = lane.name(first++);
    };
    const LaneSplit::KeyOf by_class = [this](const Lane& lane, EventIndex first, std::span<LaneSplit::Key> into) {
      for (LaneSplit::Key& key : into) key = static_cast<LaneSplit::Key>(memory_class(trace_->memory_detail(lane.detail(first++))));
    };
    const auto lane = std::shared_ptr<const Lane>(trace_, &trace_->lane(source.lane));
    split = std::make_shared<const LaneSplit>(lane, by == SplitBy::kName ? by_name : by_class,
                                              before.empty() ? nullptr : before.mapped().get());
  }
  const LaneSplit::Key key = source.name ? *source.name : static_cast<LaneSplit::Key>(*source.memory);
  return std::shared_ptr<const LaneSubset>(split, &split->subset(key));
}

std::shared_ptr<const std::vector<ProjectedLane>> LaneIndexes::projection(const LaneSource& source) {
  auto& lanes = projections_[{source.lane, *source.on_gpu}];
  if (!lanes) lanes = std::make_shared<const std::vector<ProjectedLane>>(project_on_gpu(*trace_, source.lane, *source.on_gpu));
  return lanes;
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
    for (const ProjectedLane& each : *lanes) bytes += each.lane->memory_bytes() + each.sources.capacity() * sizeof(EventIndex);
  return bytes;
}

}  // namespace lanescope::timeline
