#include "model/analysis/idle/stream_idle.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "gpu_operations.h"

namespace lanescope::analysis {
namespace {

using StreamKey = std::tuple<ProcessId, GpuId, std::uint32_t, std::uint32_t>;
StreamKey stream_of(const TrackKey& key) { return {key.process, key.gpu, key.context, key.stream}; }

// `counts`: the part of the gap that counts.
void add_gap(StreamIdle& idle, Nanoseconds gap, Nanoseconds counts, bool launched_after_end, Nanoseconds kernel_gap) {
  if (launched_after_end)
    idle.host_wait += counts;
  else if (gap < kernel_gap)
    idle.kernel_wait += counts;
  else
    idle.other += counts;
}

StreamIdle break_down(const Trace& trace, const LaunchIndex& launches, StreamKey stream, std::span<const TrackId> tracks, Nanoseconds kernel_gap,
                      TimeRange time, const std::stop_token& stop) {
  StreamIdle idle{std::get<0>(stream), std::get<1>(stream), std::get<2>(stream), std::get<3>(stream)};
  GpuOperations operations(trace, tracks, GpuOperations::kEver, stop);
  std::optional<Nanoseconds> end;
  while (const std::optional<GpuOperation> operation = operations.next()) {
    const Nanoseconds begin = end.value_or(operation->range.begin);
    if (const TimeRange gap = TimeRange{begin, operation->range.begin}.intersected(time); operation->range.begin > begin && !gap.empty()) {
      const Event work = trace.event(operation->event);
      const EventRef launch = launches.find(idle.process, work.correlation, work.start);
      const bool after_end = launch.valid() && trace.lane(launch.lane).start(launch.index) > begin;
      add_gap(idle, operation->range.begin - begin, gap.length(), after_end, kernel_gap);
    }
    if (operation->range.begin >= time.end) break;
    end = std::max(begin, operation->range.end);
    if (!time.contains(operation->range.begin)) continue;
    ++idle.operations;
    idle.busy += std::max<Nanoseconds>(0, operation->range.end - std::max(begin, operation->range.begin));
  }
  return idle;
}

}  // namespace

std::vector<StreamIdle> break_down_stream_idle(const Trace& trace, const LaunchIndex& launches, TimeRange time, Nanoseconds kernel_gap,
                                               const std::stop_token& stop) {
  std::map<StreamKey, std::vector<TrackId>> streams;
  for (TrackId id = 0; id < trace.tracks().size(); ++id)
    if (const TrackKey& key = trace.tracks()[id].key; is_gpu_work(key.kind)) streams[stream_of(key)].push_back(id);
  std::vector<StreamIdle> result;
  for (const auto& [stream, tracks] : streams) {
    const StreamIdle idle = break_down(trace, launches, stream, tracks, kernel_gap, time, stop);
    if (idle.operations > 0 || idle.host_wait + idle.kernel_wait + idle.other > 0) result.push_back(idle);
  }
  return result;
}

}  // namespace lanescope::analysis
