#include "model/trace/sample_times.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lanescope {
namespace {

// Makes them sorted, so that none overlap or touch.
void join(std::vector<TimeRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const TimeRange& range : ranges) {
    if (kept > 0 && range.begin <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

}  // namespace

TimeRange sampled_within(const PcSampleWindow& window) noexcept {
  constexpr Nanoseconds kLate = 100'000'000;  // CUPTI's worker wakes ten times a second
  return window.every == 0 ? TimeRange{window.time.begin - kLate, window.time.end} : window.time;
}

SampleTimes::SampleTimes(const Trace& trace) : trace_(trace) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == TrackKind::kKernels) {
      std::vector<LaneId>& lanes = lanes_[{track.key.gpu, track.key.process}];
      lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
    }
}

const std::map<NameId, std::vector<TimeRange>>& SampleTimes::runs(const PcSampleWindow& window, const std::optional<TimeRange>& part) {
  runs_.clear();
  const auto lanes = lanes_.find({window.gpu, window.process});
  constexpr std::uint64_t kMostLooks = 32'000'000;
  if (lanes == lanes_.end() || looks_ > kMostLooks) return runs_;
  std::set<GpuFunctionId> functions;
  for (const PcSample& sample : window.samples) functions.insert(sample.function);
  std::map<NameId, std::vector<TimeRange>> runs;
  for (const GpuFunctionId function : functions) runs.try_emplace(trace_.kernel_records().functions[function].name);
  const TimeRange within = sampled_within(window);
  for (const LaneId id : lanes->second) {
    const Lane& lane = trace_.lane(id);
    const auto [first, last] = lane.overlapping(within);
    looks_ += 1 + last - first;
    for (EventIndex i = first; i < last; ++i) {
      if (part && part->intersected({lane.start(i), lane.end(i)}).empty()) continue;
      const auto of_name = runs.find(lane.name(i));
      const TimeRange run{std::max(lane.start(i), within.begin), std::min(lane.end(i), within.end)};
      if (of_name != runs.end() && run.begin < run.end) of_name->second.push_back(run);
    }
  }
  for (auto& [name, of_name] : runs) {
    if (of_name.empty()) continue;
    join(of_name);
    runs_.emplace(name, std::move(of_name));
  }
  return runs_;
}

}  // namespace lanescope
