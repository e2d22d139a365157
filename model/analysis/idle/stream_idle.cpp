#include "model/analysis/idle/stream_idle.h"

#include <algorithm>
#include <map>
#include <optional>
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

// Looks at the gaps of all streams in one pass over the work of their GPUs: launches are looked up in the order of time, whatever the number of streams.
class StreamGaps final : public OperationVisitor {
 public:
  StreamGaps(const Trace& trace, const LaunchIndex& launches, Nanoseconds kernel_gap, TimeRange time)
      : trace_(trace), launches_(launches), kernel_gap_(kernel_gap), time_(time), of_lanes_(trace.lanes().size()) {
    for (const Track& track : trace.tracks()) {
      if (!is_gpu_work(track.key.kind)) continue;
      const StreamKey key = stream_of(track.key);
      Stream& stream = streams_.try_emplace(key, Stream{{std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key)}, {}, {}}).first->second;
      for (const LaneId lane : track.lanes) of_lanes_[lane] = &stream;
    }
  }

  void begin(GpuId) override {}
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) add(operation, *of_lanes_[operation.event.lane]);
  }
  void end() override {}

  // By their keys.
  [[nodiscard]] std::vector<StreamIdle> take() const {
    std::vector<StreamIdle> idle;
    for (const auto& [key, stream] : streams_)
      if (stream.idle.operations > 0 || stream.idle.host_wait + stream.idle.kernel_wait + stream.idle.other > 0) idle.push_back(stream.idle);
    return idle;
  }

 private:
  struct Stream {
    StreamIdle idle;
    std::optional<Nanoseconds> end;  // of the work so far
    bool is_past = false;            // the work is behind the time that counts
  };

  void add(const GpuOperation& operation, Stream& stream) {
    if (stream.is_past) return;
    const Nanoseconds begin = stream.end.value_or(operation.range.begin);
    if (const TimeRange gap = TimeRange{begin, operation.range.begin}.intersected(time_); operation.range.begin > begin && !gap.empty()) {
      const EventRef launch = launches_.find(operation.process, operation.correlation, operation.range.begin);
      const bool after_end = launch.valid() && trace_.lane(launch.lane).start(launch.index) > begin;
      add_gap(stream.idle, operation.range.begin - begin, gap.length(), after_end, kernel_gap_);
    }
    stream.is_past = operation.range.begin >= time_.end;
    if (stream.is_past) return;
    stream.end = std::max(begin, operation.range.end);
    if (!time_.contains(operation.range.begin)) return;
    ++stream.idle.operations;
    stream.idle.busy += std::max<Nanoseconds>(0, operation.range.end - std::max(begin, operation.range.begin));
  }

  const Trace& trace_;
  const LaunchIndex& launches_;
  const Nanoseconds kernel_gap_;
  const TimeRange time_;
  std::map<StreamKey, Stream> streams_;
  std::vector<Stream*> of_lanes_;
};

}  // namespace

std::vector<StreamIdle> break_down_stream_idle(const Trace& trace, const LaunchIndex& launches, TimeRange time, Nanoseconds kernel_gap,
                                               const std::stop_token& stop) {
  StreamGaps gaps(trace, launches, kernel_gap, time);
  OperationVisitor* const visitor = &gaps;
  visit_operations(trace, GpuOperations::kEver, {&visitor, 1}, stop);
  return gaps.take();
}

}  // namespace lanescope::analysis
