#include "timeline/core/communication_time.h"

#include <algorithm>
#include <tuple>

#include "lane_writer.h"
#include "model/analysis/waits.h"

namespace lanescope::timeline {
namespace {

std::vector<TimeRange> united(std::vector<TimeRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  std::vector<TimeRange> all;
  for (const TimeRange& range : ranges) {
    if (all.empty() || range.begin > all.back().end)
      all.push_back(range);
    else
      all.back().end = std::max(all.back().end, range.end);
  }
  return all;
}

}  // namespace

bool CommunicationTime::ByLanes::operator()(const Level& a, const Level& b) const noexcept {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const LaneSource& x, const LaneSource& y) {
    return std::tie(x.lane, x.name, x.memory, x.on_gpu, x.call_depth) < std::tie(y.lane, y.name, y.memory, y.on_gpu, y.call_depth);
  });
}

class CommunicationTime::Builder {
 public:
  Builder(const Trace& trace, const std::stop_token& stop) : trace_(trace), stop_(stop) {}

  std::shared_ptr<const Times> build() {
    find_kernels();
    if (kernels_.empty()) return nullptr;
    const RowTree tree(trace_);
    for (const Row& row : tree.rows()) {
      if (stop_.stop_requested()) return nullptr;
      if (row.kind == RowKind::kGpuHardware && !row.all.empty()) add_gpu(row.all);
      const bool may_wait = row.kind == RowKind::kGpu || row.kind == RowKind::kGpuHardware || row.kind == RowKind::kKernels ||
                            row.kind == RowKind::kKernelFamily || row.kind == RowKind::kKernelName || row.kind == RowKind::kStream;
      if (!may_wait) continue;
      add_level(row.all);
      for (const Level& level : row.levels) add_level(level);
    }
    return stop_.stop_requested() ? nullptr : std::make_shared<const Times>(std::move(times_));
  }

 private:
  void find_kernels() {
    analysis::WaitFinder finder(trace_);
    for (const Track& track : trace_.tracks()) {
      if (track.key.kind != TrackKind::kKernels) continue;
      for (const LaneId id : track.lanes) {
        const Lane& lane = trace_.lane(id);
        LaneWriter waits, kernels;
        bool waited = false, communicated = false;
        for (EventIndex i = 0; i < lane.size(); ++i) {
          if (i % LaneSegment::kCapacity == 0 && stop_.stop_requested()) return;
          if (!finder.communicates({id, i})) continue;
          communicated = true;
          kernels.add({lane.start(i), lane.end(i)}, lane.name(i));
          const auto wait = finder.collective_wait({id, i});
          if (!wait) continue;
          waited = true;
          waits.add({lane.start(i), lane.start(i) + wait->waited}, lane.name(i));
        }
        if (communicated) kernels_.emplace(id, kernels.take());
        if (waited) times_.waits.emplace(id, waits.take());
      }
    }
  }

  // What is left of some times where nothing else of the level runs that is not in `these`, by lane, too.
  [[nodiscard]] Lane alone(const Level& level, const std::map<LaneId, Lane>& these) const {
    std::vector<TimeRange> ranges;
    for (const LaneSource& source : level) {
      const auto found = these.find(source.lane);
      if (found == these.end() || source.memory) continue;
      for (EventIndex i = 0; i < found->second.size(); ++i)
        if (!source.name || found->second.name(i) == *source.name) ranges.push_back({found->second.start(i), found->second.end(i)});
    }
    LaneWriter writer;
    std::vector<TimeRange> others;
    for (const TimeRange& range : united(std::move(ranges))) {
      others.clear();
      for (const LaneSource& source : level) add_others(source, these, range, others);
      Nanoseconds from = range.begin;
      for (const TimeRange& other : united(others)) {
        if (other.begin > from) writer.add({from, other.begin}, 1);
        from = std::max(from, other.end);
      }
      if (range.end > from) writer.add({from, range.end}, 1);
    }
    return writer.take();
  }

  // What events of the lane take of the range, but for what of them is in `these`: their beginnings, or all of them.
  void add_others(const LaneSource& source, const std::map<LaneId, Lane>& these, TimeRange range, std::vector<TimeRange>& others) const {
    const Lane& lane = trace_.lane(source.lane);
    const auto found = these.find(source.lane);
    const auto [first, last] = lane.overlapping(range);
    for (EventIndex i = first; i < last; ++i) {
      if (!source.whole() && !source.matches(trace_, lane.event(i))) continue;
      TimeRange other{lane.start(i), lane.end(i)};
      if (found != these.end())
        if (const auto own = found->second.at(other.begin); own && found->second.start(*own) == other.begin) other.begin = found->second.end(*own);
      other = other.intersected(range);
      if (!other.empty()) others.push_back(other);
    }
  }

  void add_level(const Level& level) {
    const bool waits = std::any_of(level.begin(), level.end(), [this](const LaneSource& source) { return times_.waits.contains(source.lane); });
    if (!waits || times_.levels.contains(level)) return;
    if (Lane lane = alone(level, times_.waits); !lane.empty()) times_.levels.emplace(level, std::move(lane));
  }

  void add_gpu(const Level& hardware) {
    std::vector<TimeRange> ranges;
    for (const LaneSource& source : hardware)
      if (const auto found = kernels_.find(source.lane); found != kernels_.end())
        for (EventIndex i = 0; i < found->second.size(); ++i) ranges.push_back({found->second.start(i), found->second.end(i)});
    if (ranges.empty()) return;
    LaneWriter communication;
    for (const TimeRange& range : united(std::move(ranges))) communication.add(range, 1);
    times_.gpus.emplace(trace_.track_of(hardware.front().lane).key.gpu, GpuLanes{communication.take(), alone(hardware, kernels_), hardware});
  }

  const Trace& trace_;
  const std::stop_token& stop_;
  std::map<LaneId, Lane> kernels_;  // that communicate
  Times times_;
};

CommunicationTime::CommunicationTime(const Trace& trace, const std::stop_token& stop) : of_(Builder(trace, stop).build()) {}

std::optional<TimeRange> CommunicationTime::wait_of(LaneId lane, Nanoseconds start_of_kernel) const {
  if (!of_) return std::nullopt;
  const auto found = of_->waits.find(lane);
  if (found == of_->waits.end()) return std::nullopt;
  const auto index = found->second.at(start_of_kernel);
  if (!index || found->second.start(*index) != start_of_kernel) return std::nullopt;
  return TimeRange{start_of_kernel, found->second.end(*index)};
}

Nanoseconds CommunicationTime::waited(const Level& level, TimeRange window) const {
  if (!of_) return 0;
  const auto found = of_->levels.find(level);
  return found == of_->levels.end() ? 0 : found->second.busy(window);
}

std::vector<float> CommunicationTime::waiting_columns(const Level& level, const Viewport& viewport) const {
  if (!of_) return {};
  const auto found = of_->levels.find(level);
  if (found == of_->levels.end()) return {};
  const Lane& waits = found->second;
  std::vector<float> columns(static_cast<std::size_t>(viewport.width));
  for (std::int32_t x = 0; x < viewport.width; ++x) {
    const TimeRange pixel{viewport.time_at(x), viewport.time_at(x + 1)};
    if (pixel.empty())  // of less than a nanosecond
      columns[static_cast<std::size_t>(x)] = waits.at(pixel.begin) ? 1.0F : 0.0F;
    else
      columns[static_cast<std::size_t>(x)] = static_cast<float>(static_cast<double>(waits.busy(pixel)) / static_cast<double>(pixel.length()));
  }
  return columns;
}

std::vector<CommunicationTime::OfGpu> CommunicationTime::within(TimeRange window) const {
  std::vector<OfGpu> all;
  if (!of_) return all;
  for (const auto& [gpu, lanes] : of_->gpus) all.push_back({gpu, lanes.communication.busy(window), lanes.alone.busy(window), waited(lanes.hardware, window)});
  return all;
}

}  // namespace lanescope::timeline
