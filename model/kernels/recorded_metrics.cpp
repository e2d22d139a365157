#include "model/kernels/recorded_metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lanescope/kernel_metrics.pb.h"
#include "model/file/limits.h"
#include "model/file/trace_file.h"
#include "model/trace/message_size.h"

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

constexpr std::size_t kMostMetrics = 65'536;  // of a file: thirty times what the largest set has

// Launches of a trace that were measured, and sums of all like them.
class Launches {
 public:
  void want(ProcessId process, std::uint32_t correlation) { wanted_.try_emplace(key_of(process, correlation)); }

  // O(kernels): only those that are wanted are kept.
  void find_in(const Trace& trace) {
    trace_ = &trace;
    if (wanted_.empty()) return;
    visit([this](const TrackKey& key, const Event& event) {
      const auto found = wanted_.find(key_of(key.process, event.correlation));
      if (found == wanted_.end() || found->second.is_known) return;
      found->second = {true, key, event};
      by_kind_.try_emplace(kind_of(event));
    });
    visit([this](const TrackKey&, const Event& event) {
      const auto kind = kind_of_detail_.of(event, [&] {
        const auto found = by_kind_.find(kind_of(event));
        return found == by_kind_.end() ? nullptr : &found->second;
      });
      if (kind == nullptr) return;
      ++kind->count;
      kind->time += event.duration;
    });
  }

  struct Launch {
    bool is_known = false;
    TrackKey track;
    Event event;
  };
  // Null where there is none.
  [[nodiscard]] const Launch* find(ProcessId process, std::uint32_t correlation) const {
    const auto found = wanted_.find(key_of(process, correlation));
    return found == wanted_.end() || !found->second.is_known ? nullptr : &found->second;
  }
  [[nodiscard]] AllLaunches all_like(const Event& event) const { return by_kind_.at(kind_of(event)); }

 private:
  using Kind = std::tuple<NameId, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::uint32_t>;

  // The sum of the event before, which mostly is of the same name and detail.
  struct LastKind {
    NameId name = 0;
    DetailId detail = kNone;
    AllLaunches* sum = nullptr;
    template <typename Find>
    AllLaunches* of(const Event& event, Find find) {
      if (event.name != name || event.detail != detail) *this = {event.name, event.detail, find()};
      return sum;
    }
  };

  template <typename Visit>
  void visit(const Visit& each) const {
    for (const Track& track : trace_->tracks()) {
      if (track.key.kind != TrackKind::kKernels) continue;
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace_->lane(lane).size(); ++i)
          if (const Event event = trace_->event({lane, i}); event.detail != kNone) each(track.key, event);
    }
  }
  [[nodiscard]] static std::uint64_t key_of(ProcessId process, std::uint32_t correlation) { return std::uint64_t{process} << 32 | correlation; }
  [[nodiscard]] Kind kind_of(const Event& event) const {
    const KernelDetail& detail = trace_->kernel_detail(event.detail);
    return {event.name, std::to_array(detail.grid), std::to_array(detail.block), detail.dynamic_shared_memory};
  }

  const Trace* trace_ = nullptr;
  std::unordered_map<std::uint64_t, Launch> wanted_;
  std::map<Kind, AllLaunches> by_kind_;
  LastKind kind_of_detail_;
};

// Memory that what is read may take, by the size of the file.
class Budget {
 public:
  explicit Budget(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(path, ignored);
    const limits::FileBudget budget = limits::budget_of(ignored ? 0 : size);
    left_ = budget.memory / 2;  // the trace has as much
    packed_ = budget.unpacked;
  }
  [[nodiscard]] bool unpack(std::uint64_t bytes) {
    packed_ -= std::min(bytes, packed_);
    return packed_ > 0;
  }
  [[nodiscard]] bool spend(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  [[nodiscard]] Error exceeded() const {
    return Error{path_.string() + ": its counters of kernels take more memory than a recording of its size can hold (docs/file-format.md, Limits)."};
  }

 private:
  const std::filesystem::path& path_;
  std::uint64_t left_ = 0;
  std::uint64_t packed_ = 0;  // bytes of payloads that may be unpacked
};

// One that was measured, until its kernel is found.
struct ReadLaunch {
  ProcessId process = kNone;
  std::uint32_t correlation = 0;
  Measurement measurement;
  std::vector<std::pair<std::uint32_t, double>> values;  // by position in ReadFrames::metrics
};
struct ReadFrames {
  std::vector<ReadLaunch> launches;
  std::vector<Metric> metrics;
  std::unordered_map<std::string, std::uint32_t> columns;
  std::vector<LeftOutKernel> left_out;
};

// Takes frames one by one, so that no more than one is held as a message.
class FrameReader {
 public:
  FrameReader(const Trace& trace, Budget& budget) : budget_(budget) {
    for (ProcessId id = 0; id < trace.processes().size(); ++id) processes_.try_emplace(trace.processes()[id].instance, id);
  }
  // False where the budget is spent.
  [[nodiscard]] bool take(const FrameView& frame) {
    const Result<std::string> payload = open_frame(frame);
    if (payload && !budget_.unpack(payload->size())) return false;
    proto::KernelMetrics message;
    if (!payload || measure_message(*proto::KernelMetrics::descriptor(), *payload, limits::kDecodedFrameBytes).bytes > limits::kDecodedFrameBytes ||
        !message.ParseFromString(*payload))
      return true;
    std::vector<std::uint32_t> columns;
    for (const std::string& metric : message.metrics()) {
      const auto [known, is_new] = read_.columns.try_emplace(metric, static_cast<std::uint32_t>(read_.metrics.size()));
      columns.push_back(known->second);
      if (!is_new) continue;
      if (read_.metrics.size() == kMostMetrics || !budget_.spend(kNodeBytes + 2 * metric.size())) return false;
      read_.metrics.push_back({metric, unit_of(metric)});
    }
    for (const proto::KernelLeftOut& left_out : message.left_out()) {
      if (!budget_.spend(kNodeBytes + left_out.kernel().size() + left_out.reason().size())) return false;
      read_.left_out.push_back({left_out.kernel(), left_out.reason()});
    }
    const auto process = processes_.find(frame.header.process);
    if (process == processes_.end()) return true;
    for (const proto::MeasuredLaunch& launch : message.launches()) {
      if (launch.values_size() != message.metrics_size()) continue;
      if (!budget_.spend(kNodeBytes + sizeof(ReadLaunch) + columns.size() * sizeof(std::pair<std::uint32_t, double>))) return false;
      ReadLaunch& read = read_.launches.emplace_back();
      read.process = process->second;
      read.correlation = launch.correlation();
      read.measurement = {static_cast<Replay>(launch.replay()), launch.passes(), 1 + static_cast<std::uint32_t>(launch.other_launches_size()),
                          static_cast<Nanoseconds>(launch.spent()), {}};
      for (std::size_t i = 0; i < columns.size(); ++i) read.values.emplace_back(columns[i], launch.values(static_cast<int>(i)));
    }
    return true;
  }
  [[nodiscard]] ReadFrames result() { return std::move(read_); }

 private:
  static constexpr std::uint64_t kNodeBytes = 160;  // of an entry, in all tables that it is in
  Budget& budget_;
  ReadFrames read_;
  std::unordered_map<std::uint32_t, ProcessId> processes_;  // by instance
};

Result<ReadFrames> read_frames(const std::filesystem::path& path, const Trace& trace, Budget& budget) {
  Result<TraceFileReader> reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  FrameReader frames(trace, budget);
  constexpr std::array<std::uint16_t, 1> kTypes{proto::FRAME_KERNEL_METRICS};
  if (!reader->index().empty()) {
    for (const FrameView& frame : reader->indexed(kTypes))
      if (!frames.take(frame)) return budget.exceeded();
    return frames.result();
  }
  while (const auto frame = reader->next())
    if (frame->header.type == proto::FRAME_KERNEL_METRICS && !frames.take(*frame)) return budget.exceeded();
  return frames.result();
}

ProfiledKernel kernel_of(const Trace& trace, const Launches::Launch& launch) {
  const TrackKey& key = launch.track;
  ProfiledKernel kernel;
  kernel.name = trace.name(launch.event.name);
  kernel.process = trace.processes()[key.process].name;
  kernel.pid = trace.processes()[key.process].pid;
  kernel.context = key.context;
  kernel.stream = key.stream;
  kernel.detail = trace.kernel_detail(launch.event.detail);
  if (key.gpu != kNone) {
    kernel.gpu = trace.gpus()[key.gpu];
    kernel.device = device_ordinal(trace, key.process, key.gpu);
  }
  return kernel;
}

}  // namespace

Result<RecordedMetrics> read_recorded_metrics(const std::filesystem::path& path, const Trace& trace) {
  Budget budget(path);
  Result<ReadFrames> read = read_frames(path, trace, budget);
  if (!read) return read.error();
  RecordedMetrics result{KernelMetrics(read->metrics), {}, std::move(read->left_out)};
  Launches launches;
  for (const ReadLaunch& launch : read->launches) launches.want(launch.process, launch.correlation);
  launches.find_in(trace);
  for (const ReadLaunch& launch : read->launches) {
    const Launches::Launch* const found = launches.find(launch.process, launch.correlation);
    if (found == nullptr) continue;
    ProfiledKernel kernel = kernel_of(trace, *found);
    if (!budget.spend(sizeof(kernel) + kernel.name.size() + kernel.process.size() + kernel.gpu.name.size() + read->metrics.size() * sizeof(double)))
      return budget.exceeded();
    kernel.values.assign(read->metrics.size(), std::numeric_limits<double>::quiet_NaN());
    for (const auto& [column, value] : launch.values) kernel.values[column] = value;
    result.metrics.add(std::move(kernel));
    result.measurements.push_back(launch.measurement);
    result.measurements.back().of_its_kind = launches.all_like(found->event);
  }
  return result;
}

}  // namespace lanescope::kernels
