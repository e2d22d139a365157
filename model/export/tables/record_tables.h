// The tables of docs/tables.md that are not made from events: counters, counters of kernels, counts of their instructions, samples of their warps. Internal to
// model/export and model/query.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

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

// Values of counters by time; for values of one time, by counter.
struct CounterTable {
  std::string_view name;
  std::span<const ColumnSource<CounterRow>> columns;
};

// What has rows in a table: a launch or a window.
struct Record {
  TimeRange time;     // of its kernel or window
  EventRef kernel;    // not of a window
  std::size_t index;  // in KernelRecords: the position of the launch or window
};

// A table whose rows are parts of records.
template <typename Row>
struct RecordTable {
  std::string_view name;
  std::span<const ColumnSource<Row>> columns;
  // By start. Launches without a kernel in the trace are left out. O(windows), or O(kernels of the trace) if launches were measured.
  std::vector<Record> (*records)(const Trace& trace, const ExportSelection& selection);
  std::size_t (*recorded)(const Trace& trace);                              // number of records, including those that are left out. O(1)
  std::size_t (*rows)(const Trace& trace, const Record& record);            // number of rows of a record. O(1)
  Row (*row)(const Trace& trace, const Record& record, std::size_t index);  // O(1)
  std::uint32_t (*correlation)(const Trace& trace, const Record& record);   // null if the table has no such column
};

// Visit rows by start until `visit` returns false.
void for_each_row(const CounterTable& table, const Trace& trace, const ExportSelection& selection, const std::function<bool(const CounterRow& row)>& visit);
template <typename Row, typename Visit>
void for_each_row(const RecordTable<Row>& table, const Trace& trace, const ExportSelection& selection, Visit visit) {
  for (const Record& record : table.records(trace, selection))
    for (std::size_t i = 0, count = table.rows(trace, record); i < count; ++i)
      if (!visit(table.row(trace, record, i))) return;
}

[[nodiscard]] const CounterTable& counter_table() noexcept;
[[nodiscard]] const RecordTable<KernelMetricRow>& kernel_metric_table() noexcept;
[[nodiscard]] const RecordTable<InstructionCountRow>& instruction_count_table() noexcept;
[[nodiscard]] const RecordTable<PcWindowRow>& pc_window_table() noexcept;
[[nodiscard]] const RecordTable<PcSampleRow>& pc_sample_table() noexcept;

// Calls visit(table) for each table of records, in the order of the page about tables.
template <typename Visit>
void for_each_record_table(Visit visit) {
  visit(kernel_metric_table());
  visit(instruction_count_table());
  visit(pc_window_table());
  visit(pc_sample_table());
}

}  // namespace lanescope::exporters
