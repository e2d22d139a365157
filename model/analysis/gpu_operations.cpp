#include "gpu_operations.h"

#include <algorithm>

namespace lanescope::analysis {

GpuOperations::GpuOperations(const Trace& trace, GpuId gpu, std::stop_token stop)
    : GpuOperations(
          trace, [gpu](const TrackKey& key) { return key.gpu == gpu; }, std::move(stop)) {}

GpuOperations::GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, std::stop_token stop)
    : trace_(&trace), stop_(std::move(stop)) {
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind) || !wanted(track.key)) continue;
    for (const LaneId id : track.lanes)
      if (!trace.lane(id).empty()) heads_.push_back({trace.lane(id).start(0), {id, 0}});
  }
  std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
}

std::optional<GpuOperation> GpuOperations::next() {
  if (heads_.empty() || stop_.stop_requested()) return std::nullopt;
  Head& first = heads_.front();
  const Lane& lane = trace_->lane(first.event.lane);
  const GpuOperation operation{{first.start, lane.end(first.event.index)}, first.event};
  const EventIndex following = first.event.index + 1;
  if (following == lane.size()) {
    std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
    heads_.pop_back();
    return operation;
  }
  const Head head{lane.start(following), {first.event.lane, following}};
  const bool still_first = (heads_.size() < 2 || !(head > heads_[1])) && (heads_.size() < 3 || !(head > heads_[2]));
  if (still_first) {
    first = head;
    return operation;
  }
  std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
  heads_.back() = head;
  std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  return operation;
}

}  // namespace lanescope::analysis
