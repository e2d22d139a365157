#include "device_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "model/stats/device_ordinals.h"

namespace lanescope::analysis {
namespace {

using stats::EventView, stats::Selection;

constexpr EventIndex kAtOnce = 1u << 12;  // events of a lane
static_assert(LaneSegment::kCapacity % kAtOnce == 0);

// Reads the selected operations of one lane, piece by piece.
class LaneReader {
 public:
  LaneReader(const Selection& selection, const std::vector<Selection::Stretch>& stretches) : selection_(&selection), stretches_(&stretches) {
    if (!stretches.empty()) next_ = stretches.front().first;
    read();
  }
  [[nodiscard]] bool empty() const noexcept { return at_ == piece_.size(); }
  [[nodiscard]] TimeRange front() const noexcept { return piece_[at_]; }  // requires: !empty()
  void pop() {
    if (++at_ == piece_.size()) read();
  }

 private:
  void read() {
    piece_.clear();
    at_ = 0;
    while (piece_.empty() && stretch_ < stretches_->size()) {
      Selection::Stretch part = (*stretches_)[stretch_];
      part.first = next_;
      part.last = std::min(part.last, next_ - next_ % kAtOnce + kAtOnce);
      auto add = [this](const Track&, const EventView& event) { piece_.push_back({event.start(), event.end()}); };
      selection_->for_each(part, add);
      next_ = part.last;
      if (next_ == (*stretches_)[stretch_].last && ++stretch_ < stretches_->size()) next_ = (*stretches_)[stretch_].first;
    }
  }

  const Selection* selection_;
  const std::vector<Selection::Stretch>* stretches_;
  std::size_t stretch_ = 0;
  EventIndex next_ = 0;
  std::vector<TimeRange> piece_;
  std::size_t at_ = 0;
};

// The end of the last selected operation of a lane. Requires: there is one.
Nanoseconds last_end(const Selection& selection, const std::vector<Selection::Stretch>& stretches) {
  Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
  auto look = [&](const Track&, const EventView& event) { end = std::max(end, event.end()); };
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend() && end == std::numeric_limits<Nanoseconds>::min(); ++stretch)
    selection.for_each(*stretch, look);
  return end;
}

}  // namespace

std::vector<DeviceWork> work_by_device(const Selection& selection) {
  std::map<std::pair<ProcessId, GpuId>, DeviceWork> devices;
  const auto add = [&](const std::vector<Selection::Stretch>& lane) {
    const LaneReader reader(selection, lane);
    if (reader.empty()) return;
    const TrackKey& key = lane.front().track->key;
    const TimeRange extent{reader.front().begin, last_end(selection, lane)};
    const auto [found, is_new] = devices.try_emplace({key.process, key.gpu});
    DeviceWork& device = found->second;
    device.context = is_new ? key.context : std::min(device.context, key.context);
    device.extent = is_new ? extent : TimeRange{std::min(device.extent.begin, extent.begin), std::max(device.extent.end, extent.end)};
    device.lanes.push_back(lane);
  };
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory}) {
    std::vector<Selection::Stretch> lane;
    for (const Selection::Stretch& stretch : selection.stretches(kind)) {
      if (!lane.empty() && lane.back().lane != stretch.lane) add(std::exchange(lane, {}));
      lane.push_back(stretch);
    }
    if (!lane.empty()) add(lane);
  }

  const stats::DeviceOrdinals ordinals(selection.trace());
  std::vector<DeviceWork> list;
  for (auto& [key, device] : devices) {
    device.process = key.first;
    device.device = ordinals(key.first, key.second);
    list.push_back(std::move(device));
  }
  return list;
}

void for_each_operation(const Selection& selection, const DeviceWork& device, const std::function<void(TimeRange)>& visit) {
  std::vector<LaneReader> lanes;
  std::vector<std::size_t> heap;
  for (const std::vector<Selection::Stretch>& lane : device.lanes) {
    lanes.emplace_back(selection, lane);
    if (!lanes.back().empty()) heap.push_back(lanes.size() - 1);
  }
  const auto later = [&](std::size_t a, std::size_t b) { return lanes[a].front().begin > lanes[b].front().begin; };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty() && !selection.stop().stop_requested()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    LaneReader& first = lanes[heap.back()];
    const Nanoseconds others = heap.size() > 1 ? lanes[heap.front()].front().begin : std::numeric_limits<Nanoseconds>::max();
    do {  // a lane that runs ahead stays in front
      visit(first.front());
      first.pop();
    } while (!first.empty() && first.front().begin <= others);
    if (first.empty())
      heap.pop_back();
    else
      std::push_heap(heap.begin(), heap.end(), later);
  }
}

}  // namespace lanescope::analysis
