#include "panels/utilisation.h"

#include <vector>

namespace lanescope::ui {

UtilisationSource::UtilisationSource(const std::shared_ptr<const Trace>& trace) : trace_(trace) {
  std::map<GpuId, timeline::Level> levels;
  for (const Track& track : trace->tracks())
    if (is_gpu_work(track.key.kind))
      for (const LaneId lane : track.lanes) levels[track.key.gpu].push_back({.lane = lane});
  for (const auto& [gpu, level] : levels) {
    if (gpus_.size() == Utilisation::kMostGpus) {
      omitted_ = levels.size() - gpus_.size();
      break;
    }
    const bool known = gpu < trace->gpus().size();
    gpus_.emplace_back("GPU " + (known ? std::to_string(trace->gpus()[gpu].ordinal) : std::string()), timeline::LevelContent(trace, level));
  }
}

Utilisation UtilisationSource::over(TimeRange range, std::size_t pieces) const {
  Utilisation utilisation{range, {}, omitted_};
  if (range.empty()) return utilisation;
  std::vector<Nanoseconds> edges;
  for (std::size_t piece = 0; piece <= pieces; ++piece)
    edges.push_back(range.begin +
                    static_cast<Nanoseconds>(static_cast<double>(range.length()) * static_cast<double>(piece) / static_cast<double>(pieces)));
  std::vector<Nanoseconds> busy(pieces);
  for (const auto& [name, content] : gpus_) {
    GpuUtilisation gpu{name, {}};
    content.busy(edges, busy);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const Nanoseconds length = edges[piece + 1] - edges[piece];
      gpu.shares.push_back(length == 0 ? 0 : static_cast<double>(busy[piece]) / static_cast<double>(length));
    }
    utilisation.gpus.push_back(std::move(gpu));
  }
  return utilisation;
}

}  // namespace lanescope::ui
