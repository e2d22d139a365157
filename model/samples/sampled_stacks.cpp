#include "model/samples/sampled_stacks.h"

#include <algorithm>
#include <unordered_map>

#include "model/trace/combining/parts.h"

namespace lanescope::samples {
namespace {

TrackKind track_kind(StackSource source) noexcept { return source == StackSource::kCpuSamples ? TrackKind::kCpuSamples : TrackKind::kBacktraces; }

bool has_track(const Trace& trace, auto&& is_wanted) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(), [&](const Track& track) { return is_wanted(track.key.kind); });
}

// Many samples have the same detail, so they are first counted by detail.
class WeightByDetail {
 public:
  void add(DetailId detail, Nanoseconds time) {
    if (detail >= weights_.size()) weights_.resize(std::max<std::size_t>(detail + 1, weights_.size() * 2));
    ++weights_[detail].count;
    weights_[detail].time += time;
  }
  [[nodiscard]] const std::vector<Weight>& weights() const noexcept { return weights_; }

 private:
  std::vector<Weight> weights_;
};

}  // namespace

bool has_stacks(const Trace& trace, StackSource source) noexcept {
  if (source == StackSource::kGpuWork) return has_track(trace, is_gpu_work);
  return has_track(trace, [kind = track_kind(source)](TrackKind each) { return each == kind; });
}

std::vector<SampledStack> sampled_stacks(const Trace& trace, const SampleSelection& selection, const std::stop_token& stop) {
  constexpr EventIndex kBetweenLooks = 1u << 16;  // events between checks of the stop token
  const TrackKind kind = track_kind(selection.source);
  const auto is_wanted = [&](ThreadId thread) {
    return selection.threads.empty() || std::find(selection.threads.begin(), selection.threads.end(), thread) != selection.threads.end();
  };
  WeightByDetail by_detail;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind || !is_wanted(track.key.thread)) continue;
    if (!selection.run.empty() && run_of(trace, track) != selection.run) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      const auto [first, last] = selection.window ? lane.overlapping(*selection.window) : std::pair<EventIndex, EventIndex>{0, lane.size()};
      for (EventIndex i = first; i < last; ++i) {
        if ((i - first) % kBetweenLooks == 0 && stop.stop_requested()) return {};
        by_detail.add(lane.detail(i), lane.duration(i));
      }
    }
  }
  std::unordered_map<CallNodeId, Weight> by_chain;
  for (DetailId detail = 0; detail < by_detail.weights().size(); ++detail) {
    Weight weight = by_detail.weights()[detail];
    if (weight.count == 0) continue;
    const SampleDetail& sample = trace.sample_detail(detail);
    if (sample.origin == SampleOrigin::kTimer) weight.time = static_cast<Nanoseconds>(weight.count) * sample.period;
    by_chain[sample.call_node] += weight;
  }
  std::vector<SampledStack> stacks;
  stacks.reserve(by_chain.size());
  for (const auto& [chain, weight] : by_chain) stacks.push_back({chain, weight});
  std::sort(stacks.begin(), stacks.end());
  return stacks;
}

}  // namespace lanescope::samples
