// Packs what a trace knows of kernels beyond their times into frames. Internal to model/export.
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
  // The trace must outlive it. O(records · log records).
  explicit KernelRecordsWriter(const Trace& trace);
  // What there is of one process, in the order in which a reader wants it. False where `emit` did not take it. O(its records), and kernels and calls that are
  // taken where it has records of launches. Counters and counts of launches go with their kernels and calls. Samples have no times but those of their window:
  // of one that may reach into the time that is wanted, those of all kernels are taken but of kernels that ran in it at other times alone. What is of no time,
  // code for one, is taken.
  [[nodiscard]] bool write(ProcessId process, const ExportSelection& selection, const EmitCode& emit_code, const EmitPcSamples& emit_samples,
                           const EmitMetrics& emit_metrics, const EmitCounts& emit_counts) const;
  // Sources of the code of all processes, likewise.
  [[nodiscard]] bool write_sources(const EmitSource& emit) const;

 private:
  // Of launches that have records, those whose kernels or calls are taken, by correlation: what a call waited for while counters were read is known by these.
  [[nodiscard]] std::unordered_set<std::uint32_t> launches_of(ProcessId process, const ExportSelection& selection) const;
  [[nodiscard]] bool write_windows(ProcessId process, const std::optional<TimeRange>& part, const EmitPcSamples& emit) const;
  // Whether any of the process's kernels is of a row that is wanted.
  [[nodiscard]] bool takes_kernels(ProcessId process, const ExportSelection& selection) const;

  const Trace& trace_;
  ByProcess<std::shared_ptr<const CodeObject>> code_;
  ByProcess<std::shared_ptr<const PcSampleWindow>> windows_;
  ByProcess<std::shared_ptr<const MeasuredLaunch>> measured_;
  ByProcess<std::shared_ptr<const InstructionCounts>> counted_;
  ByProcess<LeftOutKernel> left_out_;
};

}  // namespace lanescope::exporters
