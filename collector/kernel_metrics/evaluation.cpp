#include "kernel_metrics/evaluation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "kernel_metrics/instruction_image.h"
#include "model/file/limits.h"

namespace lanescope::kernel_metrics {
namespace {

constexpr std::string_view kDuration = "gpu__time_duration.sum";

constexpr std::size_t kMessageBytes = limits::kWrittenPayloadBytes / 2;

// Columns of a chunk of kernels. Its dictionaries have one entry for each kernel.
class KernelChunk {
 public:
  KernelChunk() {
    chunk_.set_first_string(1);
    chunk_.set_first_queue(1);
    chunk_.set_first_shape(1);
  }
  [[nodiscard]] bool is_full() const { return bytes_ >= kMessageBytes || static_cast<std::uint64_t>(chunk_.strings_size()) >= limits::kChunkRows; }
  [[nodiscard]] bool is_empty() const { return bytes_ == 0; }
  [[nodiscard]] proto::EventChunk take() { return std::move(chunk_); }
  void add(const RanKernel& kernel, std::int64_t begin, std::uint64_t duration) {
    constexpr std::size_t kMostBytesBesidesName = 512;
    bytes_ += kernel.name.size() + kMostBytesBesidesName;
    const channel::KernelRecord& record = kernel.record;
    const bool is_range = record.grid[0] == 0;
    chunk_.add_strings(kernel.name);
    proto::Queue& queue = *chunk_.add_queues();
    queue.set_device(record.device);
    queue.set_context(record.context);
    queue.set_stream(record.stream);
    proto::LaunchShape& shape = *chunk_.add_launch_shapes();
    shape.set_grid_x(record.grid[0]);
    shape.set_grid_y(record.grid[1]);
    shape.set_grid_z(record.grid[2]);
    shape.set_block_x(record.block[0]);
    shape.set_block_y(record.block[1]);
    shape.set_block_z(record.block[2]);
    shape.set_cluster_x(record.cluster[0]);
    shape.set_cluster_y(record.cluster[1]);
    shape.set_cluster_z(record.cluster[2]);
    shape.set_registers_per_thread(record.registers_per_thread);
    shape.set_static_shared_memory(record.static_shared_memory);
    shape.set_dynamic_shared_memory(record.dynamic_shared_memory);
    shape.set_local_memory_per_thread(record.local_memory_per_thread);
    shape.set_local_memory_total(record.local_memory_total);
    shape.set_shared_memory_executed(record.shared_memory_executed);
    shape.set_launch_type(record.launch_type);
    shape.set_cache_config(record.cache_config);
    proto::Kernels& kernels = *chunk_.mutable_kernels();
    const auto number = static_cast<std::uint32_t>(chunk_.strings_size());
    if (number == 1) chunk_.set_base_time(begin);
    kernels.add_start_delta(number == 1 ? 0 : begin - last_begin_);
    kernels.add_duration(duration);
    kernels.add_name(number);
    kernels.add_queue(number);
    kernels.add_shape(is_range ? 0 : number);
    kernels.add_correlation_delta(static_cast<std::int64_t>(record.correlation) - last_correlation_);
    last_begin_ = begin;
    last_correlation_ = record.correlation;
  }

 private:
  proto::EventChunk chunk_;
  std::size_t bytes_ = 0;
  std::int64_t last_begin_ = 0;
  std::int64_t last_correlation_ = 0;
};

std::uint64_t kind_of(const Counted& counted, const RanKernels& kernels) {
  std::uint32_t shape[7] = {};
  if (const auto kernel = kernels.find(counted.record.correlation); kernel != kernels.end()) {
    const channel::KernelRecord& record = kernel->second.record;
    std::copy(std::begin(record.grid), std::end(record.grid), shape);
    std::copy(std::begin(record.block), std::end(record.block), shape + 3);
    shape[6] = record.dynamic_shared_memory;
  }
  return channel::launch_kind(counted.kernel, shape);
}

// Launches whose measuring began and did not end.
class Unended {
 public:
  void begin(Begun&& begun) { kernels_[begun.record.correlation] = std::move(begun.kernel); }
  void end(std::uint32_t correlation) { kernels_.erase(correlation); }
  template <typename LeaveOut>
  void for_each(const LeaveOut& leave_out) const {
    for (const auto& [correlation, kernel] : kernels_)
      leave_out(kernel,
                "Its measuring did not come to an end: the program was ended meanwhile, or CUPTI failed. A kernel that waits for another one, or for the "
                "program, can't run alone.");
  }

 private:
  std::map<std::uint32_t, std::string> kernels_;
};

}  // namespace

void add_rates(proto::KernelMetrics& metrics) {
  const int given = metrics.metrics_size();
  const auto cycles = std::find(metrics.metrics().begin(), metrics.metrics().end(), kCycles);
  if (cycles == metrics.metrics().end()) return;
  const auto at_cycles = static_cast<int>(cycles - metrics.metrics().begin());
  for (int count = 0; count < given; ++count) {
    const std::string rate = metrics.metrics(count) + kPerCycle;
    if (!rate.starts_with(kOfInstructions) || !metrics.metrics(count).ends_with(".sum") ||
        std::find(metrics.metrics().begin(), metrics.metrics().end(), rate) != metrics.metrics().end())
      continue;
    metrics.add_metrics(rate);
    for (proto::MeasuredLaunch& launch : *metrics.mutable_launches()) launch.add_values(launch.values(count) / launch.values(at_cycles));
  }
}

bool Evaluation::prepare() {
  bool are_known = true;
  for (std::uint32_t set = 0; set < plan_.sets.size(); ++set) {
    if (!program(set).config().empty()) continue;
    programs_.erase(set);
    are_known = false;
  }
  return are_known;
}

const gpu_metrics::MetricProgram& Evaluation::program(std::uint32_t set) {
  std::unique_ptr<gpu_metrics::MetricProgram>& known = programs_[set];
  if (!known)
    known = std::make_unique<gpu_metrics::MetricProgram>(*cupti_, plan_.sets[set].chip, std::span<const std::uint8_t>(), plan_.sets[set].metrics,
                                                         CUPTI_PROFILER_TYPE_RANGE_PROFILER);
  return *known;
}

std::vector<proto::KernelMetrics> cut_for_frames(proto::KernelMetrics whole) {
  proto::KernelMetrics head;
  head.set_chip(whole.chip());
  *head.mutable_metrics() = whole.metrics();
  std::vector<proto::KernelMetrics> parts{head};
  std::size_t bytes = head.ByteSizeLong();
  const auto part_for = [&](std::size_t more) -> proto::KernelMetrics& {
    constexpr std::size_t kOfField = 8;  // number and size of the field
    if (bytes + more > kMessageBytes && (parts.back().launches_size() > 0 || parts.back().left_out_size() > 0)) {
      parts.push_back(head);
      bytes = head.ByteSizeLong();
    }
    bytes += more + kOfField;
    return parts.back();
  };
  for (proto::MeasuredLaunch& launch : *whole.mutable_launches()) *part_for(launch.ByteSizeLong()).add_launches() = std::move(launch);
  for (proto::KernelLeftOut& left_out : *whole.mutable_left_out()) *part_for(left_out.ByteSizeLong()).add_left_out() = std::move(left_out);
  return parts;
}

std::vector<std::size_t> match_launches(std::span<const std::uint64_t> first, std::span<const std::uint64_t> run) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < first.size(); ++i) places[first[i]].push_back(i);
  std::unordered_map<std::uint64_t, std::size_t> seen;
  std::vector<std::size_t> matched;
  for (const std::uint64_t kind : run) {
    const std::size_t number = seen[kind]++;
    const auto like = places.find(kind);
    matched.push_back(like != places.end() && number < like->second.size() ? like->second[number] : kNoLaunch);
  }
  return matched;
}

bool Evaluation::make_values(const Counted& counted, std::vector<double>& values) {
  values.assign(plan_.sets[counted.record.set].metrics.size(), std::numeric_limits<double>::quiet_NaN());
  return program(counted.record.set).evaluate(counted.image, 0, values);
}

void Evaluation::add_further_run(const std::filesystem::path& records, const Columns& columns, std::span<FirstRun> first_run) {
  const RanKernels ran = read_kernels(records);
  const auto for_each_measured = [&](const std::function<void(const Counted&)>& visit) {
    read_records(records,
                 [&](Counted&& counted) {
                   if (counted.record.outcome == channel::CounterOutcome::kMeasured && counted.record.set < plan_.sets.size()) visit(counted);
                 },
                 {});
  };
  std::vector<std::uint64_t> first_kinds, kinds;
  for (const FirstRun& launch : first_run) first_kinds.push_back(launch.kind);
  for_each_measured([&](const Counted& counted) { kinds.push_back(kind_of(counted, ran)); });
  const std::vector<std::size_t> matched = match_launches(first_kinds, kinds);
  std::size_t number = 0;
  for_each_measured([&](const Counted& counted) {
    const std::size_t place = matched[number++];
    std::vector<double> values;
    if (place == kNoLaunch || !make_values(counted, values)) return;
    const PlannedSet& set = plan_.sets[counted.record.set];
    proto::MeasuredLaunch& launch = *first_run[place].launch;
    ++first_run[place].further_runs;
    launch.set_passes(launch.passes() + set.passes);
    launch.set_spent(launch.spent() + counted.record.spent);
    for (std::size_t m = 0; m < values.size(); ++m)
      if (const int column = columns.at(set.metrics[m]); std::isnan(launch.values(column))) launch.set_values(column, values[m]);
  });
}

Evaluated Evaluation::evaluate(const std::filesystem::path& records, std::span<const std::filesystem::path> further_runs) {
  if (plan_.kind == channel::CounterKind::kInstructions) return evaluate_instructions(records);
  Evaluated result;
  proto::KernelMetrics metrics;
  Columns columns;
  for (const PlannedSet& set : plan_.sets)
    for (const std::string& metric : set.metrics)
      if (columns.try_emplace(metric, metrics.metrics_size()).second) metrics.add_metrics(metric);
  const auto leave_out = [&metrics](const std::string& kernel, std::string_view reason) {
    proto::KernelLeftOut& left_out = *metrics.add_left_out();
    left_out.set_kernel(kernel);
    left_out.set_reason(std::string(reason));
  };
  RanKernels kernels = read_kernels(records);
  std::vector<FirstRun> first_run;
  std::unordered_map<std::uint32_t, proto::MeasuredLaunch*> groups;  // the rows' addresses do not change
  KernelChunk chunk;
  Unended unended;
  const auto add = [&](Counted&& counted) {
    const channel::CounterRecord& record = counted.record;
    unended.end(record.correlation);
    if (record.outcome == channel::CounterOutcome::kLeftOut || record.set >= plan_.sets.size()) return leave_out(counted.kernel, counted.reason);
    const PlannedSet& set = plan_.sets[record.set];
    metrics.set_chip(set.chip);
    std::vector<double> values;
    if (!make_values(counted, values)) return leave_out(counted.kernel, "CUPTI can't make values of what it counted.");
    proto::MeasuredLaunch*& launch = groups[record.group];
    if (launch == nullptr) {
      launch = metrics.add_launches();
      launch->set_correlation(record.correlation);
      launch->set_replay(static_cast<proto::KernelReplay>(plan_.replay));
      for (int i = 0; i < metrics.metrics_size(); ++i) launch->add_values(std::numeric_limits<double>::quiet_NaN());
      if (!further_runs.empty()) first_run.push_back({kind_of(counted, kernels), counted.kernel, launch, 0});
    } else {
      launch->add_other_launches(record.correlation);
    }
    launch->set_passes(launch->passes() + set.passes);
    launch->set_spent(launch->spent() + record.spent);
    double duration = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int column = columns[set.metrics[i]];
      if (std::isnan(launch->values(column))) launch->set_values(column, values[i]);
      if (set.metrics[i] == kDuration && values[i] > 0) duration = values[i];
    }
    const auto kernel = kernels.find(record.correlation);
    if (kernel == kernels.end() || kernel->second.name.empty() || duration <= 0) return;
    if (plan_.replay == channel::CounterReplay::kRange)
      kernel->second.name += record.launches == 1 ? " (1 launch)" : " (" + std::to_string(record.launches) + " launches)";
    chunk.add(kernel->second, record.begin, static_cast<std::uint64_t>(duration));
    if (chunk.is_full()) result.kernels.push_back(std::exchange(chunk, KernelChunk()).take());
  };
  if (read_records(records, add, {}, {}, [&](Begun&& begun) { unended.begin(std::move(begun)); }) == Ending::kCut)
    leave_out("later launches", "What the program wrote of them is cut short: it was ended meanwhile, or there was no room for it.");
  unended.for_each(leave_out);
  if (!chunk.is_empty()) result.kernels.push_back(chunk.take());
  for (const std::filesystem::path& run : further_runs) add_further_run(run, columns, first_run);
  if (!further_runs.empty()) add_rates(metrics);
  std::map<std::string, std::size_t> missing;  // number of launches, by kernel, that some runs did not have
  for (const FirstRun& launch : first_run)
    if (launch.further_runs < further_runs.size()) ++missing[launch.name];
  for (const auto& [kernel, count] : missing)
    leave_out(kernel, "Of " + std::to_string(count) +
                          " of its launches some values are missing: not every run of the program made them, with this shape and in this order.");
  result.metrics = cut_for_frames(std::move(metrics));
  return result;
}

Evaluated Evaluation::evaluate_instructions(const std::filesystem::path& records) const {
  constexpr std::size_t kPartBytes = limits::kWrittenPayloadBytes / 2;
  Evaluated result;
  proto::KernelMetrics left_out;
  const auto leave_out = [&left_out](const std::string& kernel, const std::string& reason) {
    proto::KernelLeftOut& added = *left_out.add_left_out();
    added.set_kernel(kernel);
    added.set_reason(reason);
  };
  Unended unended;
  const auto add = [&](Counted&& counted) {
    unended.end(counted.record.correlation);
    if (counted.record.outcome == channel::CounterOutcome::kLeftOut || plan_.sets.empty()) return leave_out(counted.kernel, counted.reason);
    std::vector<proto::InstructionCounts> counts = instruction_counts(counted.image, plan_.sets.front().metrics);
    if (counts.empty()) leave_out(counted.kernel, "What was counted of it makes no sense.");
    for (proto::InstructionCounts& part : counts) {
      part.set_correlation(counted.record.correlation);
      part.set_spent(counted.record.spent);
      result.instructions.push_back(std::move(part));
    }
  };
  const auto take_code = [&](LoadedCode&& loaded) {
    for (std::size_t at = 0; at < loaded.code.size(); at += kPartBytes) {
      proto::CodeObject& part = result.code.emplace_back();
      part.set_crc(loaded.record.crc);
      part.set_size(loaded.code.size());
      part.set_offset(at);
      part.set_image(loaded.code.substr(at, kPartBytes));
    }
  };
  if (read_records(records, add, {}, take_code, [&](Begun&& begun) { unended.begin(std::move(begun)); }) == Ending::kCut)
    leave_out("later launches", "What the program wrote of them is cut short: it was ended meanwhile, or there was no room for it.");
  unended.for_each(leave_out);
  result.metrics = cut_for_frames(std::move(left_out));
  return result;
}

}  // namespace lanescope::kernel_metrics
