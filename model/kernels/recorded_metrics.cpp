#include "model/kernels/recorded_metrics.h"

#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lanescope/kernel_metrics.pb.h"
#include "model/file/trace_file.h"

namespace lanescope::kernels {
namespace {

// In which unit the values of a metric are, by the form of its name.
std::string unit_of(std::string_view metric) {
  if (metric.find(".pct") != metric.npos) return "%";
  const bool is_rate = metric.ends_with(".per_second");
  if (metric.find("bytes") != metric.npos && metric.find(".ratio") == metric.npos) return is_rate ? "byte/s" : "byte";
  if (metric.starts_with("gpu__time_duration")) return "ns";
  return is_rate ? "hz" : "";
}

// Kernels and their sums of a trace.
class Launches {
 public:
  explicit Launches(const Trace& trace) : trace_(trace) {
    for (const Track& track : trace.tracks()) {
      if (track.key.kind != TrackKind::kKernels) continue;
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) add(track.key, {lane, i});
    }
  }
  // Null where there is none.
  [[nodiscard]] const std::pair<TrackKey, Event>* find(ProcessId process, std::uint32_t correlation) const {
    const auto found = by_correlation_.find({process, correlation});
    return found == by_correlation_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] AllLaunches all_like(const Event& event) const {
    const auto found = by_kind_.find(kind_of(event));
    return found == by_kind_.end() ? AllLaunches{} : found->second;
  }

 private:
  using Kind = std::tuple<NameId, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::uint32_t>;
  [[nodiscard]] Kind kind_of(const Event& event) const {
    const KernelDetail& detail = trace_.kernel_detail(event.detail);
    return {event.name, std::to_array(detail.grid), std::to_array(detail.block), detail.dynamic_shared_memory};
  }
  void add(const TrackKey& key, EventRef ref) {
    const Event event = trace_.event(ref);
    if (event.detail == kNone) return;
    by_correlation_.try_emplace({key.process, event.correlation}, key, event);
    AllLaunches& all = by_kind_[kind_of(event)];
    ++all.count;
    all.time += event.duration;
  }

  const Trace& trace_;
  std::map<std::pair<ProcessId, std::uint32_t>, std::pair<TrackKey, Event>> by_correlation_;
  std::map<Kind, AllLaunches> by_kind_;
};

struct ReadFrames {
  std::vector<std::pair<std::uint32_t, proto::KernelMetrics>> frames;  // with the instance of their process
  std::vector<Metric> metrics;
  std::unordered_map<std::string, std::size_t> columns;
};

Result<ReadFrames> read_frames(const std::filesystem::path& path) {
  Result<TraceFileReader> reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  ReadFrames read;
  const auto take = [&read](const FrameView& frame) {
    proto::KernelMetrics message;
    const Result<std::string> payload = open_frame(frame);
    if (!payload || !message.ParseFromString(*payload)) return;
    for (const std::string& metric : message.metrics())
      if (read.columns.try_emplace(metric, read.metrics.size()).second) read.metrics.push_back({metric, unit_of(metric)});
    read.frames.emplace_back(frame.header.process, std::move(message));
  };
  constexpr std::array<std::uint16_t, 1> kTypes{proto::FRAME_KERNEL_METRICS};
  if (!reader->index().empty()) {
    for (const FrameView& frame : reader->indexed(kTypes)) take(frame);
    return read;
  }
  while (const auto frame = reader->next())
    if (frame->header.type == proto::FRAME_KERNEL_METRICS) take(*frame);
  return read;
}

}  // namespace

Result<RecordedMetrics> read_recorded_metrics(const std::filesystem::path& path, const Trace& trace) {
  Result<ReadFrames> read = read_frames(path);
  if (!read) return read.error();
  RecordedMetrics result{KernelMetrics(read->metrics), {}, {}};
  if (read->frames.empty()) return result;
  const Launches launches(trace);
  for (const auto& [instance, message] : read->frames) {
    for (const proto::KernelLeftOut& left_out : message.left_out()) result.left_out.push_back({left_out.kernel(), left_out.reason()});
    ProcessId process = 0;
    while (process < trace.processes().size() && trace.processes()[process].instance != instance) ++process;
    if (process == trace.processes().size()) continue;
    for (const proto::MeasuredLaunch& launch : message.launches()) {
      const auto* found = launches.find(process, launch.correlation());
      if (found == nullptr || launch.values_size() != message.metrics_size()) continue;
      const auto& [key, event] = *found;
      ProfiledKernel kernel;
      kernel.name = trace.name(event.name);
      kernel.process = trace.processes()[process].name;
      kernel.pid = trace.processes()[process].pid;
      kernel.context = key.context;
      kernel.stream = key.stream;
      kernel.detail = trace.kernel_detail(event.detail);
      if (key.gpu != kNone) {
        kernel.gpu = trace.gpus()[key.gpu];
        kernel.device = device_ordinal(trace, process, key.gpu);
      }
      kernel.values.assign(read->metrics.size(), std::numeric_limits<double>::quiet_NaN());
      for (int i = 0; i < message.metrics_size(); ++i) kernel.values[read->columns.at(message.metrics(i))] = launch.values(i);
      result.metrics.add(std::move(kernel));
      result.measurements.push_back({static_cast<Replay>(launch.replay()), launch.passes(), 1 + static_cast<std::uint32_t>(launch.other_launches_size()),
                                     static_cast<Nanoseconds>(launch.spent()), launches.all_like(event)});
    }
  }
  return result;
}

}  // namespace lanescope::kernels
