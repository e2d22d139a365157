#include "model/analysis/idle/launches_at_once.h"

#include <map>

#include "covered_time.h"
#include "gpu_operations.h"
#include "model/trace/text/percent.h"

namespace lanescope::analysis {

std::vector<double> shares_at_once(const Trace& trace, std::span<const KernelOnGpu> kernels, TimeRange time) {
  std::map<GpuId, std::map<NameId, TimeAtOnce>> of_gpus;
  for (const KernelOnGpu& kernel : kernels)
    if (kernel.gpu != kNone) of_gpus[kernel.gpu][kernel.name];
  std::map<GpuId, std::vector<TrackId>> tracks;
  std::map<GpuId, std::size_t> lanes;
  for (TrackId id = 0; id < trace.tracks().size(); ++id) {
    const Track& track = trace.tracks()[id];
    if (track.key.kind != TrackKind::kKernels || !of_gpus.contains(track.key.gpu)) continue;
    tracks[track.key.gpu].push_back(id);
    lanes[track.key.gpu] += track.lanes.size();
  }
  for (auto& [gpu, names] : of_gpus) {
    if (lanes[gpu] < 2) continue;  // events of one lane never overlap
    GpuOperations operations(trace, tracks[gpu], time, {});
    while (const std::optional<GpuOperation> operation = operations.next())
      if (const auto found = names.find(operation->name); found != names.end()) found->second.add(operation->until(time.end).range);
  }
  std::vector<double> shares;
  for (const KernelOnGpu& kernel : kernels) shares.push_back(kernel.gpu == kNone ? 1 : of_gpus[kernel.gpu][kernel.name].share());
  return shares;
}

Message at_once_text(double share) {
  if (share == 1) return {};
  return Message("Launches of it run at the same time, so that at most {share} of what they take together can be won.",
                 {{"share", format_small_percent(100 * share)}});
}

}  // namespace lanescope::analysis
