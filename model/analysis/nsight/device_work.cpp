#include "device_work.h"

#include <algorithm>
#include <map>

#include "model/stats/device_ordinals.h"

namespace lanescope::analysis {

std::vector<DeviceWork> work_by_device(const stats::Selection& selection) {
  std::map<std::pair<ProcessId, GpuId>, DeviceWork> devices;
  const Track* last = nullptr;
  DeviceWork* work = nullptr;
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory})
    selection.for_each(kind, [&](const Track& track, const stats::EventView& operation) {
      if (&track != last) work = &devices[{track.key.process, track.key.gpu}];
      last = &track;
      work->context = work->operations.empty() ? track.key.context : std::min(work->context, track.key.context);
      work->operations.push_back({operation.start(), operation.end()});
    });

  const stats::DeviceOrdinals ordinals(selection.trace());
  const auto by_begin = [](TimeRange a, TimeRange b) { return a.begin < b.begin; };
  std::vector<DeviceWork> list;
  for (auto& [key, device] : devices) {
    device.process = key.first;
    device.device = ordinals(key.first, key.second);
    auto& operations = device.operations;
    if (!std::is_sorted(operations.begin(), operations.end(), by_begin)) std::sort(operations.begin(), operations.end(), by_begin);
    device.last_end = operations.front().end;
    for (const TimeRange operation : operations) device.last_end = std::max(device.last_end, operation.end);
    list.push_back(std::move(device));
  }
  return list;
}

}  // namespace lanescope::analysis
