#include "kernel_metrics/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace lanescope::kernel_metrics {
namespace {

constexpr std::string_view kDuration = "gpu__time_duration.sum";

// Columns of a chunk of kernels, whose dictionaries have an entry for each kernel.
class KernelChunk {
 public:
  explicit KernelChunk(proto::EventChunk& chunk) : chunk_(chunk) {
    chunk_.set_first_string(1);
    chunk_.set_first_queue(1);
    chunk_.set_first_shape(1);
  }
  void add(const RanKernel& kernel, std::int64_t begin, std::uint64_t duration) {
    const channel::KernelRecord& record = kernel.record;
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
    kernels.add_shape(number);
    kernels.add_correlation_delta(static_cast<std::int64_t>(record.correlation) - last_correlation_);
    last_begin_ = begin;
    last_correlation_ = record.correlation;
  }

 private:
  proto::EventChunk& chunk_;
  std::int64_t last_begin_ = 0;
  std::int64_t last_correlation_ = 0;
};

}  // namespace

const gpu_metrics::MetricProgram& Evaluation::program(std::uint32_t set) {
  std::unique_ptr<gpu_metrics::MetricProgram>& known = programs_[set];
  if (!known)
    known = std::make_unique<gpu_metrics::MetricProgram>(cupti_, plan_.sets[set].chip, std::span<const std::uint8_t>(), plan_.sets[set].metrics,
                                                         CUPTI_PROFILER_TYPE_RANGE_PROFILER);
  return *known;
}

Evaluated Evaluation::evaluate(const ProcessRecords& records) {
  Evaluated result;
  std::unordered_map<std::string, int> columns;
  for (const PlannedSet& set : plan_.sets)
    for (const std::string& metric : set.metrics)
      if (columns.try_emplace(metric, result.metrics.metrics_size()).second) result.metrics.add_metrics(metric);
  std::unordered_map<std::uint32_t, const RanKernel*> kernels;
  for (const RanKernel& kernel : records.kernels) kernels[kernel.record.correlation] = &kernel;
  std::unordered_map<std::uint32_t, proto::MeasuredLaunch*> groups;
  KernelChunk chunk(result.kernels);
  for (const Counted& counted : records.counted) {
    const channel::CounterRecord& record = counted.record;
    if (record.outcome == channel::CounterOutcome::kLeftOut || record.set >= plan_.sets.size()) {
      proto::KernelLeftOut& left_out = *result.metrics.add_left_out();
      left_out.set_kernel(counted.kernel);
      left_out.set_reason(counted.reason);
      continue;
    }
    const PlannedSet& set = plan_.sets[record.set];
    result.metrics.set_chip(set.chip);
    std::vector<double> values(set.metrics.size(), std::numeric_limits<double>::quiet_NaN());
    if (!program(record.set).evaluate(counted.image, 0, values)) ++result.refused;
    proto::MeasuredLaunch*& launch = groups[record.group];
    if (launch == nullptr) {
      launch = result.metrics.add_launches();
      launch->set_correlation(record.correlation);
      launch->set_replay(static_cast<proto::KernelReplay>(plan_.replay));
      for (int i = 0; i < result.metrics.metrics_size(); ++i) launch->add_values(std::numeric_limits<double>::quiet_NaN());
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
    if (kernel != kernels.end() && duration > 0) chunk.add(*kernel->second, record.begin, static_cast<std::uint64_t>(duration));
  }
  return result;
}

}  // namespace lanescope::kernel_metrics
