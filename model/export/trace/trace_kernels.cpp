#include "trace_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "model/trace/sample_times.h"

namespace lanescope::exporters {
namespace {

constexpr std::size_t kCodePartBytes = 4u << 20;
constexpr int kMostRows = 65'536;
constexpr std::size_t kMostValues = 65'536;       // of a message with counters
constexpr std::size_t kMostNameBytes = 4u << 20;  // of a message; its rows take at most as much in addition

bool write_code(const CodeObject& object, const EmitCode& emit) {
  for (std::size_t at = 0; at < object.image.size(); at += kCodePartBytes) {
    proto::CodeObject part;
    part.set_crc(object.crc);
    part.set_size(object.size);
    part.set_offset(at);
    part.set_image(object.image.substr(at, kCodePartBytes));
    if (!emit(part)) return false;
  }
  return true;
}

// Ids are defined in the file where they are first used.
class PcSamplesWriter {
 public:
  PcSamplesWriter(const Trace& trace, const EmitPcSamples& emit) : trace_(trace), records_(trace.kernel_records()), emit_(emit) {}

  // Writes for each function the share of its samples that `share_of` gives. Samples are whole: what rounding takes from a row it gives to a later one of
  // the function, so its sum is right to half a sample.
  template <typename ShareOf>
  bool write(const PcSampleWindow& window, ShareOf share_of) {
    struct Written {
      double share = 1;
      double samples = 0, not_issued = 0;  // what is due so far, rows that are written included
      std::uint64_t written = 0, written_not_issued = 0;
    };
    std::map<GpuFunctionId, Written> functions;
    const auto take = [](double& due, std::uint64_t& written, double more, std::uint32_t most) {
      due += more;
      const auto rest = static_cast<std::int64_t>(std::llround(due)) - static_cast<std::int64_t>(written);
      const auto taken = static_cast<std::uint32_t>(std::clamp<std::int64_t>(rest, 0, most));
      written += taken;
      return taken;
    };
    proto::PcSamples message;
    begin(window, message);
    message.set_dropped(window.dropped);
    message.set_other_samples(window.other_samples);
    message.set_buffer_was_full(window.buffer_was_full);
    for (PcSample sample : window.samples) {
      const auto [known, is_new] = functions.try_emplace(sample.function);
      Written& of_function = known->second;
      if (is_new) of_function.share = share_of(sample.function);
      if (of_function.share <= 0) continue;
      sample.samples = take(of_function.samples, of_function.written, of_function.share * sample.samples, sample.samples);
      sample.not_issued =
          take(of_function.not_issued, of_function.written_not_issued, of_function.share * sample.not_issued, std::min(sample.not_issued, sample.samples));
      if (sample.samples == 0) continue;
      if (message.function_size() == kMostRows || name_bytes_ > kMostNameBytes) {
        if (!emit_(message)) return false;
        message.Clear();
        begin(window, message);
      }
      add(sample, message);
    }
    return emit_(message);
  }

 private:
  void begin(const PcSampleWindow& window, proto::PcSamples& message) {
    message.set_begin(window.time.begin + trace_.provenance().monotonic_epoch);
    message.set_duration(static_cast<std::uint64_t>(window.time.end - window.time.begin));
    message.set_device(device_ordinal(trace_, window.process, window.gpu));
    message.set_context(window.context);
    message.set_period(window.period);
    message.set_every(static_cast<std::uint64_t>(window.every));
    pc_ = 0;
    name_bytes_ = 0;
  }

  void add(const PcSample& sample, proto::PcSamples& message) {
    message.add_function(function_id(sample.function, message));
    message.add_pc_delta(std::int64_t{sample.pc} - pc_);
    message.add_reason(reason_id(sample.reason, message));
    message.add_samples(sample.samples);
    message.add_not_issued(sample.not_issued);
    pc_ = sample.pc;
  }

  std::uint32_t function_id(GpuFunctionId id, proto::PcSamples& message) {
    const auto [known, is_new] = functions_.try_emplace(id, static_cast<std::uint32_t>(functions_.size() + 1));
    if (is_new) {
      if (message.functions_size() == 0) message.set_first_function(known->second);
      const GpuFunction& function = records_.functions[id];
      proto::GpuFunction& added = *message.add_functions();
      added.set_code_object(function.code_object);
      added.set_index(function.index);
      added.set_name(std::string(trace_.name(function.mangled)));
      name_bytes_ += added.name().size();
    }
    return known->second;
  }

  std::uint32_t reason_id(std::uint32_t id, proto::PcSamples& message) {
    const auto [known, is_new] = reasons_.try_emplace(id, static_cast<std::uint32_t>(reasons_.size() + 1));
    if (is_new) {
      if (message.reasons_size() == 0) message.set_first_reason(known->second);
      message.add_reasons(records_.reasons[id]);
      name_bytes_ += records_.reasons[id].size();
    }
    return known->second;
  }

  const Trace& trace_;
  const KernelRecords& records_;
  const EmitPcSamples& emit_;
  std::map<GpuFunctionId, std::uint32_t> functions_;
  std::map<std::uint32_t, std::uint32_t> reasons_;
  std::int64_t pc_ = 0;
  std::size_t name_bytes_ = 0;  // in the message
};

std::map<NameId, Nanoseconds> lengths(const std::map<NameId, std::vector<TimeRange>>& runs) {
  std::map<NameId, Nanoseconds> all;
  for (const auto& [name, of_name] : runs)
    for (const TimeRange& run : of_name) all[name] += run.length();
  return all;
}

// Launches with the same metrics share a message.
class MetricsWriter {
 public:
  MetricsWriter(const KernelRecords& records, const EmitMetrics& emit) : records_(records), emit_(emit) {}

  bool add(const MeasuredLaunch& launch) {
    const bool goes_on = std::equal(metrics_.begin(), metrics_.end(), launch.values.begin(), launch.values.end(),
                                    [](std::uint32_t metric, const MetricValue& value) { return metric == value.metric; });
    if (message_.launches_size() == 0 || !goes_on || values_ + launch.values.size() > kMostValues) {
      if (!finish()) return false;
      metrics_.clear();
      for (const MetricValue& value : launch.values) {
        metrics_.push_back(value.metric);
        message_.add_metrics(records_.metrics[value.metric]);
      }
    }
    proto::MeasuredLaunch& added = *message_.add_launches();
    added.set_correlation(launch.correlation);
    added.set_replay(static_cast<proto::KernelReplay>(launch.replay));
    added.set_passes(launch.passes);
    added.set_spent(static_cast<std::uint64_t>(launch.spent));
    for (const std::uint32_t other : launch.other_launches) added.add_other_launches(other);
    for (const MetricValue& value : launch.values) added.add_values(value.value);
    values_ += launch.values.size();
    return true;
  }
  bool add(const LeftOutKernel& kernel) {
    proto::KernelLeftOut& added = *message_.add_left_out();
    added.set_kernel(kernel.name);
    added.set_reason(kernel.reason);
    return message_.left_out_size() < kMostRows || finish();
  }
  bool finish() {
    const bool is_empty = message_.launches_size() == 0 && message_.left_out_size() == 0;
    const bool taken = is_empty || emit_(message_);
    message_.Clear();
    metrics_.clear();
    values_ = 0;
    return taken;
  }

 private:
  const KernelRecords& records_;
  const EmitMetrics& emit_;
  proto::KernelMetrics message_;
  std::vector<std::uint32_t> metrics_;  // of the message
  std::size_t values_ = 0;              // in the message
};

// Converts the trace's record to a message of the file.
proto::InstructionCounts message_of(const Trace& trace, const InstructionCounts& counts) {
  const KernelRecords& records = trace.kernel_records();
  proto::InstructionCounts message;
  message.set_correlation(counts.correlation);
  message.set_spent(static_cast<std::uint64_t>(counts.spent));
  for (const std::uint32_t metric : counts.metrics) message.add_metrics(records.metrics[metric]);
  std::map<GpuFunctionId, std::uint32_t> positions;
  std::int64_t pc = 0;
  for (const InstructionCounts::Row& row : counts.rows) {
    const auto [known, is_new] = positions.try_emplace(row.function, static_cast<std::uint32_t>(positions.size()));
    if (is_new) {
      const GpuFunction& function = records.functions[row.function];
      proto::GpuFunction& added = *message.add_functions();
      added.set_code_object(function.code_object);
      added.set_index(function.index);
      added.set_name(std::string(trace.name(function.mangled)));
    }
    message.add_function(known->second);
    message.add_pc_delta(std::int64_t{row.pc} - pc);
    pc = row.pc;
  }
  message.mutable_values()->Add(counts.values.begin(), counts.values.end());
  return message;
}

}  // namespace

KernelRecordsWriter::KernelRecordsWriter(const Trace& trace)
    : trace_(trace),
      code_(trace.kernel_records().code),
      windows_(trace.kernel_records().windows),
      measured_(trace.kernel_records().measured),
      counted_(trace.kernel_records().counted),
      left_out_(trace.kernel_records().left_out) {}

bool KernelRecordsWriter::takes_kernels(ProcessId process, const ExportSelection& selection) const {
  for (const TrackId id : trace_.tracks_of(process, TrackKind::kKernels)) {
    const std::vector<LaneId>& lanes = trace_.tracks()[id].lanes;
    if (std::any_of(lanes.begin(), lanes.end(), [&](LaneId lane) { return selection.takes(lane); })) return true;
  }
  return false;
}

std::unordered_set<std::uint32_t> KernelRecordsWriter::launches_of(ProcessId process, const ExportSelection& selection) const {
  const KernelRecords& records = trace_.kernel_records();
  std::unordered_set<std::uint32_t> known, taken;
  for (const std::uint32_t position : counted_.positions(process)) known.insert(records.counted[position]->correlation);
  for (const std::uint32_t position : measured_.positions(process)) {
    known.insert(records.measured[position]->correlation);
    known.insert(records.measured[position]->other_launches.begin(), records.measured[position]->other_launches.end());
  }
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kCudaApi})
    for (const TrackId id : trace_.tracks_of(process, kind))
      for (const LaneId lane : trace_.tracks()[id].lanes) {
        const auto [first, last] = selection.events(trace_, lane);
        for (EventIndex i = first; i < last && taken.size() < known.size(); ++i)
          if (const std::uint32_t correlation = trace_.lane(lane).correlation(i); known.contains(correlation)) taken.insert(correlation);
      }
  return taken;
}

bool KernelRecordsWriter::write_windows(ProcessId process, const std::optional<TimeRange>& part, const EmitPcSamples& emit) const {
  PcSamplesWriter writer(trace_, emit);
  SampleTimes times(trace_);
  for (const std::uint32_t position : windows_.positions(process)) {
    const PcSampleWindow& window = *trace_.kernel_records().windows[position];
    if (part && part->intersected(sampled_within(window)).empty()) continue;
    // The part has only some of the kernel's runs in that time, and all samples of the window would seem to be of these.
    const std::map<NameId, Nanoseconds> of_part = part ? lengths(times.runs(window, part)) : std::map<NameId, Nanoseconds>();
    const std::map<NameId, Nanoseconds> of_all = part ? lengths(times.runs(window)) : std::map<NameId, Nanoseconds>();
    const auto share_in_part = [&](GpuFunctionId function) {
      const NameId kernel = trace_.kernel_records().functions[function].name;
      const auto all = of_all.find(kernel);
      if (all == of_all.end()) return 1.0;  // it is not known when they were taken
      const auto some = of_part.find(kernel);
      return some == of_part.end() ? 0.0 : static_cast<double>(some->second) / static_cast<double>(all->second);
    };
    if (!writer.write(window, share_in_part)) return false;
  }
  return true;
}

bool KernelRecordsWriter::write_sources(const EmitSource& emit) const {
  for (const auto& source : trace_.kernel_records().sources) {
    proto::SourceFile message;
    message.set_path(source->path);
    message.set_text(source->text);
    if (!emit(message)) return false;
  }
  return true;
}

bool KernelRecordsWriter::write(ProcessId process, const ExportSelection& selection, const EmitCode& emit_code, const EmitPcSamples& emit_samples,
                                const EmitMetrics& emit_metrics, const EmitCounts& emit_counts) const {
  const KernelRecords& records = trace_.kernel_records();
  if (selection.rows && !takes_kernels(process, selection)) return true;
  for (const std::uint32_t position : code_.positions(process))
    if (!write_code(*records.code[position], emit_code)) return false;
  if (!write_windows(process, selection.window, emit_samples)) return false;
  const bool has_launches = !counted_.positions(process).empty() || !measured_.positions(process).empty();
  std::optional<std::unordered_set<std::uint32_t>> launches;
  if (has_launches && (selection.window || selection.rows)) launches = launches_of(process, selection);
  const auto is_taken = [&](std::uint32_t correlation) { return !launches || launches->contains(correlation); };
  for (const std::uint32_t position : counted_.positions(process))
    if (const InstructionCounts& counts = *records.counted[position]; is_taken(counts.correlation) && !emit_counts(message_of(trace_, counts))) return false;
  MetricsWriter metrics(records, emit_metrics);
  for (const std::uint32_t position : measured_.positions(process))
    if (const MeasuredLaunch& launch = *records.measured[position];
        (is_taken(launch.correlation) || std::any_of(launch.other_launches.begin(), launch.other_launches.end(), is_taken)) && !metrics.add(launch))
      return false;
  for (const std::uint32_t position : left_out_.positions(process))
    if (!metrics.add(records.left_out[position])) return false;
  return metrics.finish();
}

}  // namespace lanescope::exporters
