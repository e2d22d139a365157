#include "model/analysis/stream_idle.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "gpu_operations.h"

namespace lanescope::analysis {
namespace {

using StreamKey = std::tuple<ProcessId, GpuId, std::uint32_t, std::uint32_t>;
StreamKey stream_of(const TrackKey& key) { return {key.process, key.gpu, key.context, key.stream}; }

void add_gap(StreamIdle& idle, Nanoseconds gap, bool launched_after_end, Nanoseconds kernel_gap) {
  if (launched_after_end)
    idle.host_wait += gap;
  else if (gap < kernel_gap)
    idle.kernel_wait += gap;
  else
    idle.other += gap;
}

StreamIdle break_down(const Trace& trace, const LaunchIndex& launches, StreamKey stream, std::span<const TrackId> tracks,
                      Nanoseconds kernel_gap, const std::stop_token& stop) {
  StreamIdle idle{std::get<0>(stream), std::get<1>(stream), std::get<2>(stream), std::get<3>(stream)};
  GpuOperations operations(trace, tracks, GpuOperations::kEver, stop);
  Nanoseconds end = 0;
  while (const std::optional<GpuOperation> operation = operations.next()) {
    const Nanoseconds begin = idle.operations++ == 0 ? operation->range.begin : end;
    if (operation->range.begin > begin) {
      const Event work = trace.event(operation->event);
      const EventRef launch = launches.find(idle.process, work.correlation, work.start);
      const bool after_end = launch.valid() && trace.lane(launch.lane).start(launch.index) > begin;
      add_gap(idle, operation->range.begin - begin, after_end, kernel_gap);
    }
    idle.busy += std::max<Nanoseconds>(0, operation->range.end - std::max(begin, operation->range.begin));
    end = std::max(begin, operation->range.end);
  }
  return idle;
}

}  // namespace

std::vector<StreamIdle> break_down_stream_idle(const Trace& trace, const LaunchIndex& launches, Nanoseconds kernel_gap,
                                               const std::stop_token& stop) {
  std::map<StreamKey, std::vector<TrackId>> streams;
  for (TrackId id = 0; id < trace.tracks().size(); ++id)
    if (const TrackKey& key = trace.tracks()[id].key; is_gpu_work(key.kind)) streams[stream_of(key)].push_back(id);
  std::vector<StreamIdle> result;
  for (const auto& [stream, tracks] : streams) result.push_back(break_down(trace, launches, stream, tracks, kernel_gap, stop));
  return result;
}

}  // namespace lanescope::analysis
