#include "panels/utilisation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "timeline/core/lanes/idle_time.h"

namespace lanescope::ui {

UtilisationSource::UtilisationSource(const std::shared_ptr<const Trace>& trace, std::shared_ptr<const timeline::CommunicationTime> communication)
    : trace_(trace), communication_(std::move(communication)) {
  std::map<GpuId, timeline::Level> levels;
  for (const Track& track : trace->tracks())
    if (is_gpu_work(track.key.kind))
      for (const LaneId lane : track.lanes) levels[track.key.gpu].push_back({.lane = lane});
  const timeline::GpuNames names(*trace);
  for (const auto& [gpu, level] : levels) {
    if (gpus_.size() == Utilisation::kMostGpus) {
      omitted_ = levels.size() - gpus_.size();
      break;
    }
    const bool known = gpu < trace->gpus().size();
    gpus_.push_back({gpu, known ? names.of(gpu) : std::string("GPU"), timeline::LevelContent(trace, level)});
  }
}

// The share of each piece, for GPUs that ever wait.
std::map<GpuId, std::vector<double>> UtilisationSource::waitsOf(const std::vector<Nanoseconds>& edges) const {
  std::map<GpuId, std::vector<double>> waits;
  if (!communication_ || !communication_->has_waits()) return waits;
  for (std::size_t piece = 0; piece + 1 < edges.size(); ++piece) {
    const TimeRange time{edges[piece], edges[piece + 1]};
    if (time.empty()) continue;
    for (const timeline::CommunicationTime::OfGpu& gpu : communication_->within(time)) {
      std::vector<double>& shares = waits[gpu.gpu];
      shares.resize(edges.size() - 1);
      shares[piece] = static_cast<double>(gpu.waited) / static_cast<double>(time.length());
    }
  }
  std::erase_if(waits, [](const auto& gpu) { return std::all_of(gpu.second.begin(), gpu.second.end(), [](double share) { return share == 0; }); });
  return waits;
}

Utilisation UtilisationSource::over(TimeRange range, std::size_t pieces) const {
  Utilisation utilisation{range, {}, omitted_};
  if (range.empty()) return utilisation;
  std::vector<Nanoseconds> edges;
  for (std::size_t piece = 0; piece <= pieces; ++piece)
    edges.push_back(range.begin + static_cast<Nanoseconds>(static_cast<double>(range.length()) * static_cast<double>(piece) / static_cast<double>(pieces)));
  std::vector<Nanoseconds> busy(pieces);
  std::map<GpuId, std::vector<double>> waits = waitsOf(edges);
  for (const Gpu& each : gpus_) {
    GpuUtilisation gpu{each.id, each.name, {}, std::move(waits[each.id])};
    each.work.busy(edges, busy);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const Nanoseconds length = edges[piece + 1] - edges[piece];
      gpu.shares.push_back(length == 0 ? 0 : static_cast<double>(busy[piece]) / static_cast<double>(length));
    }
    utilisation.gpus.push_back(std::move(gpu));
  }
  return utilisation;
}

}  // namespace lanescope::ui
