// Packs a trace's data on kernels beyond their times into frames. Internal to model/export.
#pragma once

#include <functional>
#include <optional>
#include <unordered_set>

#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"
#include "model/export/selection.h"
#include "model/trace/by_process.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

using EmitCode = std::function<bool(const proto::CodeObject&)>;
using EmitPcSamples = std::function<bool(const proto::PcSamples&)>;
using EmitMetrics = std::function<bool(const proto::KernelMetrics&)>;
using EmitCounts = std::function<bool(const proto::InstructionCounts&)>;
using EmitSource = std::function<bool(const proto::SourceFile&)>;

class KernelRecordsWriter {
 public:
  // The trace must outlive *this. O(records · log records).
  explicit KernelRecordsWriter(const Trace& trace);
  // Writes the records of one process in the order that readers need. Returns false if `emit` did. O(its records), plus selected kernels and calls if it has
  // records of launches. Counters and counts of launches are selected with their kernels and calls. Samples have only the time of their window: if a window
  // may overlap the selected time, its samples are taken except those of kernels that only ran at other times. Records without a time, such as code, are
  // always taken.
  [[nodiscard]] bool write(ProcessId process, const ExportSelection& selection, const EmitCode& emit_code, const EmitPcSamples& emit_samples,
                           const EmitMetrics& emit_metrics, const EmitCounts& emit_counts) const;
  // Writes sources of the code of all processes, in the same way.
  [[nodiscard]] bool write_sources(const EmitSource& emit) const;

 private:
  // The launches with records whose kernels or calls are selected, by correlation. They explain what a call waited for while counters were read.
  [[nodiscard]] std::unordered_set<std::uint32_t> launches_of(ProcessId process, const ExportSelection& selection) const;
  [[nodiscard]] bool write_windows(ProcessId process, const std::optional<TimeRange>& part, const EmitPcSamples& emit) const;
  // True if a kernel of the process is on a selected row.
  [[nodiscard]] bool takes_kernels(ProcessId process, const ExportSelection& selection) const;

  const Trace& trace_;
  ByProcess<std::shared_ptr<const CodeObject>> code_;
  ByProcess<std::shared_ptr<const PcSampleWindow>> windows_;
  ByProcess<std::shared_ptr<const MeasuredLaunch>> measured_;
  ByProcess<std::shared_ptr<const InstructionCounts>> counted_;
  ByProcess<LeftOutKernel> left_out_;
};

}  // namespace lanescope::exporters
