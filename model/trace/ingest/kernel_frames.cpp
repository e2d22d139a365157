#include "kernel_frames.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "columns.h"

namespace lanescope {

bool ingest(const ChunkTarget& into, const proto::PcSamples& samples) {
  const int n = samples.function_size();
  if (!same_length(n, samples.pc_delta(), samples.reason(), samples.samples()) || !same_length_or_empty(n, samples.not_issued())) return false;
  const Nanoseconds end = sum(into.base_time, static_cast<std::int64_t>(samples.duration()));
  if (!is_near(into.base_time) || !is_near(end) || end < into.base_time) return false;
  PcSampleWindow window;
  window.process = into.process;
  window.gpu = into.builder.gpu_of_device(into.process, samples.device());
  window.context = samples.context();
  window.time = {into.base_time, end};
  window.period = samples.period();
  window.dropped = samples.dropped();
  window.other_samples = samples.other_samples();
  window.buffer_was_full = samples.buffer_was_full();
  constexpr std::uint64_t kLongest = 86'400'000'000'000;  // a day
  window.every = static_cast<Nanoseconds>(std::min(samples.every(), kLongest));
  window.samples.reserve(static_cast<std::size_t>(n));
  std::int64_t pc = 0;
  for (int i = 0; i < n; ++i) {
    pc = sum(pc, samples.pc_delta(i));
    const std::uint32_t function = into.dictionary.gpu_functions[samples.function(i)];
    const std::uint32_t reason = into.dictionary.stall_reasons[samples.reason(i)];
    // The function was named in a lost frame, or the position is outside of any function.
    if (function == 0 || reason == 0 || pc < 0 || pc > std::numeric_limits<std::uint32_t>::max()) {
      window.dropped += samples.samples(i);
      continue;
    }
    window.samples.push_back({function - 1, reason - 1, static_cast<std::uint32_t>(pc), samples.samples(i), optional_value(samples.not_issued(), i)});
  }
  into.builder.add(std::move(window));
  return true;
}

bool ingest(const FrameHeader& header, const proto::KernelMetrics& message, KernelNames& kernel_names, TraceBuilder& builder) {
  const ProcessId process = builder.process_of_instance(header.process);
  for (const proto::KernelLeftOut& left_out : message.left_out()) {
    const NameId name = kernel_names.of(builder.intern(left_out.kernel()), builder).name;
    builder.add(LeftOutKernel{process, std::string(builder.text(name)), left_out.reason()});
  }
  std::vector<std::uint32_t> metrics;
  for (const std::string& metric : message.metrics()) metrics.push_back(builder.kernel_metric(metric));
  bool sound = true;
  for (const proto::MeasuredLaunch& said : message.launches()) {
    sound &= said.values_size() == message.metrics_size();
    if (said.values_size() != message.metrics_size()) continue;
    MeasuredLaunch launch;
    launch.process = process;
    launch.correlation = said.correlation();
    launch.replay = known_kind(static_cast<int>(said.replay()), KernelReplay::kRange);
    launch.passes = said.passes();
    launch.other_launches.assign(said.other_launches().begin(), said.other_launches().end());
    launch.spent = static_cast<Nanoseconds>(said.spent());
    for (std::size_t i = 0; i < metrics.size(); ++i)
      if (const double value = said.values(static_cast<int>(i)); metrics[i] != kNone && std::isfinite(value)) launch.values.push_back({metrics[i], value});
    builder.add(std::move(launch));
  }
  return sound;
}

bool ingest(const FrameHeader& header, const proto::InstructionCounts& message, KernelNames& kernel_names, TraceBuilder& builder) {
  const auto rows = static_cast<std::size_t>(message.function_size());
  if (static_cast<std::size_t>(message.pc_delta_size()) != rows ||
      static_cast<std::size_t>(message.values_size()) != rows * static_cast<std::size_t>(message.metrics_size()))
    return false;
  InstructionCounts counts;
  counts.process = builder.process_of_instance(header.process);
  counts.correlation = message.correlation();
  counts.spent = static_cast<Nanoseconds>(message.spent());
  std::vector<GpuFunctionId> functions;
  for (const proto::GpuFunction& function : message.functions()) {
    const KernelName& name = kernel_names.of(builder.intern(function.name()), builder);
    functions.push_back(builder.gpu_function({counts.process, function.code_object(), function.index(), name.name, name.mangled}));
  }
  std::int64_t pc = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t function = message.function(static_cast<int>(row));
    pc = sum(pc, message.pc_delta(static_cast<int>(row)));
    if (function >= functions.size() || pc < 0 || pc > std::numeric_limits<std::uint32_t>::max()) return false;
    counts.rows.push_back({functions[function], static_cast<std::uint32_t>(pc)});
  }
  for (int metric = 0; metric < message.metrics_size(); ++metric) {
    const std::uint32_t known = builder.kernel_metric(message.metrics(metric));
    if (known == kNone) continue;
    counts.metrics.push_back(known);
    const auto values = message.values().begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(metric) * rows);
    counts.values.insert(counts.values.end(), values, values + static_cast<std::ptrdiff_t>(rows));
  }
  builder.add(std::move(counts));
  return true;
}

}  // namespace lanescope
