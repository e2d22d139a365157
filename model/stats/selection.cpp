#include "model/stats/selection.h"

#include <algorithm>

namespace lanescope::stats {

Result<Selection> Selection::of(const Trace& trace, const ReportOptions& options, std::shared_ptr<SharedLaunchIndex> index) {
  Selection selection(trace, index ? std::move(index) : std::make_shared<SharedLaunchIndex>());
  selection.stop_ = options.stop;
  if (options.range) {
    auto range = selection.find_range(*options.range);
    if (!range) {
      const std::string domain = options.range->domain && *options.range->domain != "*" ? " in the domain " + *options.range->domain : "";
      return Error{"The trace has no NVTX range " + options.range->range + domain + " with index " + std::to_string(options.range->index) +
                       ". See the names with: lanescope stats -r nvtx_sum",
                   ErrorKind::kUsage};
    }
    selection.collect_launches(*range);
    selection.range_ = std::move(range);
  }
  selection.window_ = options.time_range;  // the range and what enqueued its work may lie outside of it
  return selection;
}

std::optional<Selection::Range> Selection::find_range(const RangeFilter& filter) const {
  const auto name = trace_->find_name(filter.range);
  if (!name) return std::nullopt;
  std::map<ProcessId, std::vector<TimeRange>> found;
  for (const TrackKind kind : {TrackKind::kNvtxRanges, TrackKind::kNvtxProcessRanges})
    for_each(kind, [&](const Track& track, const EventView& event) {
      if (event.name() != *name) return;
      const std::string_view domain = trace_->domain_name(track.key.process, track.key.domain);
      if (filter.domain ? *filter.domain != "*" && domain != *filter.domain : !domain.empty()) return;
      found[track.key.process].push_back({event.start(), event.end()});
    });
  Range range;
  for (auto& [process, times] : found) {
    if (filter.index >= times.size()) continue;
    const auto nth = times.begin() + static_cast<std::ptrdiff_t>(filter.index);
    std::nth_element(times.begin(), nth, times.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    range.hull = range.times.empty() ? *nth : TimeRange{std::min(range.hull.begin, nth->begin), std::max(range.hull.end, nth->end)};
    range.times[process] = *nth;
  }
  return range.times.empty() ? std::nullopt : std::optional(std::move(range));
}

std::optional<TimeRange> Selection::time_on(const Track& track) const noexcept {
  if (track.key.process == kNone) return range_->hull;
  const auto time = range_->times.find(track.key.process);
  return time == range_->times.end() ? std::nullopt : std::optional(time->second);
}

std::vector<Selection::Stretch> Selection::stretches(TrackKind kind) const {
  std::vector<Stretch> found;
  for_each_lane(kind, [&](const Track& track, LaneId id) {
    const auto [first, last] = bounds_in(track, trace_->lane(id));
    for (EventIndex i = first; i < last;) {
      const EventIndex stop = std::min(last, i - i % LaneSegment::kCapacity + LaneSegment::kCapacity);
      found.push_back({&track, id, i, stop});
      i = stop;
    }
  });
  return found;
}

std::pair<EventIndex, EventIndex> Selection::bounds_in(const Track& track, const Lane& lane) const {
  std::pair<EventIndex, EventIndex> bounds{0, lane.size()};
  if (window_) bounds = lane.overlapping(*window_);
  if (range_ && !is_gpu(track.key.kind)) {
    const std::optional<TimeRange> time = time_on(track);
    if (!time) return {};
    const auto within = lane.overlapping(*time);
    bounds = {std::max(bounds.first, within.first), std::min(bounds.second, within.second)};
  }
  return bounds;
}

bool Selection::begins_in_range(EventRef call, ProcessId process) const {
  if (!call.valid()) return false;
  const auto time = range_->times.find(process);
  return time != range_->times.end() && time->second.contains(trace_->lane(call.lane).start(call.index));
}

void Selection::collect_launches(Range& range) const {
  for_each(TrackKind::kCudaApi, [&](const Track& track, const EventView& call) {
    const auto time = range.times.find(track.key.process);
    if (time != range.times.end() && time->second.contains(call.start()))
      range.launches.insert(launch_key(track.key.process, call.correlation()));
  });
}

}  // namespace lanescope::stats
