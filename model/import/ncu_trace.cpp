// Kernels that Nsight Compute measured, as a trace.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/import/ncu_csv.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/counters/sections.h"
#include "model/trace/text/kernel_name.h"
#include "model/trace/trace_builder.h"

namespace lanescope {
namespace {

using kernels::KernelMetrics;
using kernels::ProfiledKernel;

// Percentages that sections show, for the kernels of one GPU, each for the time of its kernel.
struct ShareSeries {
  std::vector<Nanoseconds> times;
  std::map<std::pair<std::string_view, std::string>, std::vector<std::int64_t>> columns;  // by section and label
  Nanoseconds end = 0;

  void add(const KernelMetrics& metrics, const ProfiledKernel& kernel, Nanoseconds begin, Nanoseconds until) {
    times.push_back(begin);
    end = until;
    for (const kernels::Section& section : kernels::sections(metrics, kernel))
      for (const kernels::SectionRow& row : section.rows) {
        if (row.unit != kernels::ValueUnit::kPercent || !(std::abs(row.value) < kMost)) continue;
        std::vector<std::int64_t>& column = columns[{section.title, row.label}];
        column.resize(times.size() - 1, kNoValue);
        column.push_back(std::llround(row.value / kResolution));
      }
  }
  void write(TraceBuilder& builder, GpuId gpu) {
    std::vector<CounterId> counters;
    std::vector<std::vector<std::int64_t>> values;
    for (auto& [name, column] : columns) {
      column.resize(times.size(), kNoValue);
      Counter counter;
      counter.gpu = gpu;
      counter.group = name.first;
      counter.name = name.second;
      counter.unit = "%";
      counter.resolution = kResolution;
      counter.maximum = 100;
      counters.push_back(builder.counter(counter));
      values.push_back(std::move(column));
    }
    if (!counters.empty()) builder.add_samples(counters, times, values, end);
  }

  static constexpr double kResolution = 0.01;
  static constexpr double kMost = 1e9;
};

// The kernel's counters, as if a launch of this number had read them. The trace itself contains the properties of the launch and of its GPU.
MeasuredLaunch measured_launch(TraceBuilder& builder, const std::vector<std::uint32_t>& ids, const ProfiledKernel& kernel) {
  MeasuredLaunch launch;
  launch.replay = KernelReplay::kKernel;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] != kNone && !std::isnan(kernel.values[i])) launch.values.push_back({ids[i], kernel.values[i]});
  for (const kernels::OpcodeCount& each : kernel.opcodes)
    if (const std::uint32_t id = builder.kernel_metric(std::string(kernels::kOpcodeMetric) + each.opcode); id != kNone)
      launch.values.push_back({id, static_cast<double>(each.executed)});
  return launch;
}

std::vector<std::uint32_t> metric_ids(TraceBuilder& builder, const KernelMetrics& metrics) {
  std::vector<std::uint32_t> ids;
  for (const kernels::Metric& metric : metrics.metrics())
    ids.push_back(metric.name.starts_with("launch__") || metric.name.starts_with("device__") ? kNone : builder.kernel_metric(metric.name));
  return ids;
}

}  // namespace

Result<std::shared_ptr<const Trace>> import_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress) {
  const Result<NcuTable> table = read_ncu_csv(path, progress);
  if (!table) return table.error();
  const KernelMetrics& metrics = table->metrics;
  constexpr Nanoseconds kUnknown = 1'000;              // ns, for a kernel without a measured time
  constexpr Nanoseconds kLongest = 3'600'000'000'000;  // for a kernel with a claimed time of more than an hour
  TraceBuilder builder;
  builder.provenance().format = kNsightComputeFormat;
  builder.provenance().finished = true;
  const std::vector<std::uint32_t> ids = metric_ids(builder, metrics);
  std::uint32_t number = 0;
  constexpr std::size_t kMostPlaces = 4'096;
  std::map<GpuId, ShareSeries> shares;
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;  // processes and their GPUs
  Nanoseconds time = 0;
  for (const ProfiledKernel& kernel : metrics.kernels()) {
    if (places.emplace(kernel.pid, kernel.device).second && places.size() > kMostPlaces)
      return Error{path.string() + ": the kernels are of more than " + std::to_string(kMostPlaces) + " processes and GPUs, which is more than can be shown."};
    const ProcessId process = builder.process_of_instance(kernel.pid);
    builder.process(process).pid = kernel.pid;
    builder.process(process).name = kernel.process;
    builder.set_device(process, kernel.device, kernel.gpu);
    const GpuId gpu = builder.gpu_of_device(process, kernel.device);
    KernelDetail detail = kernel.detail;
    detail.short_name = builder.intern(short_kernel_name(kernel.name));
    const Nanoseconds measured = kernels::duration(metrics, kernel);
    const Nanoseconds length = measured > 0 ? std::min(measured, kLongest) : kUnknown;
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = kernel.context, .stream = kernel.stream},
                {Event{time, length, builder.intern(kernel.name), ++number, builder.intern(detail)}});
    MeasuredLaunch launch = measured_launch(builder, ids, kernel);
    launch.process = process;
    launch.correlation = number;
    builder.add(std::move(launch));
    shares[gpu].add(metrics, kernel, time, time + length);
    time += length;
  }
  for (const LeftOutKernel& each : table->left_out) builder.add(each);
  for (auto& [gpu, series] : shares) series.write(builder, gpu);
  DiagnosticMessage message;
  message.text =
      "Nsight Compute ran these kernels one by one, and its table does not say when: they stand one behind the other, each for the time that it took.";
  builder.add_diagnostic(std::move(message));
  return builder.snapshot();
}

}  // namespace lanescope
