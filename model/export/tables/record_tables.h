// The tables of docs/tables.md that are not made from events: counters, counters of kernels, counts of their instructions, samples of their warps. Internal to
// model/export.
#pragma once

#include <functional>
#include <span>

#include "event_tables.h"
#include "model/export/selection.h"
#include "model/trace/combining/parts.h"
#include "model/trace/kernel_records.h"

namespace lanescope::exporters {

struct CounterRow {
  const Trace& trace;
  CounterId counter;
  CounterSample sample;
  [[nodiscard]] ProcessId process() const { return trace.counters()[counter].process; }
  [[nodiscard]] const TracePart* part() const { return part_of_counter(trace, counter); }
  [[nodiscard]] TimeRange time() const { return {sample.time, sample.time + sample.duration}; }
};

// A metric of a measured launch.
struct KernelMetricRow {
  const Trace& trace;
  const MeasuredLaunch& launch;
  EventRef kernel;
  Event event;  // the kernel
  MetricValue value;
  [[nodiscard]] TimeRange time() const { return {event.start, event.end()}; }
  [[nodiscard]] ProcessId process() const { return launch.process; }
  [[nodiscard]] const TracePart* part() const { return part_of_process(trace, process()); }
};

// A metric of an instruction of a launch.
struct InstructionCountRow {
  const Trace& trace;
  const InstructionCounts& counts;
  Event event;         // the kernel
  std::size_t metric;  // of counts.metrics
  std::size_t row;     // of counts.rows
  [[nodiscard]] TimeRange time() const { return {event.start, event.end()}; }
  [[nodiscard]] ProcessId process() const { return counts.process; }
  [[nodiscard]] const TracePart* part() const { return part_of_process(trace, process()); }
};

struct PcWindowRow {
  const Trace& trace;
  const PcSampleWindow& window;
  [[nodiscard]] TimeRange time() const { return window.time; }
  [[nodiscard]] ProcessId process() const { return window.process; }
  [[nodiscard]] const TracePart* part() const { return part_of_process(trace, process()); }
};

struct PcSampleRow {
  const Trace& trace;
  const PcSampleWindow& window;
  const PcSample& sample;
  [[nodiscard]] TimeRange time() const { return window.time; }
  [[nodiscard]] ProcessId process() const { return window.process; }
  [[nodiscard]] const TracePart* part() const { return part_of_process(trace, process()); }
};

template <typename Row>
struct RecordTable {
  std::string_view name;
  std::span<const ColumnSource<Row>> columns;
  // Visits rows by start until `visit` returns false.
  void (*for_each)(const Trace& trace, const ExportSelection& selection, const std::function<bool(const Row& row)>& visit);
};

// O(samples · log samples); memory: 24 bytes for each sample.
[[nodiscard]] const RecordTable<CounterRow>& counter_table() noexcept;
// Launches without a kernel in the trace are left out. O(kernels of the trace) if any were measured.
[[nodiscard]] const RecordTable<KernelMetricRow>& kernel_metric_table() noexcept;
// Likewise.
[[nodiscard]] const RecordTable<InstructionCountRow>& instruction_count_table() noexcept;
// O(samples).
[[nodiscard]] const RecordTable<PcWindowRow>& pc_window_table() noexcept;
[[nodiscard]] const RecordTable<PcSampleRow>& pc_sample_table() noexcept;

}  // namespace lanescope::exporters
