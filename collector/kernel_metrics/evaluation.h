// From what was counted to what it means: values of metrics, and the kernels that were measured as events of the trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu_metrics/chip_metrics.h"
#include "kernel_metrics/plan.h"
#include "kernel_metrics/records.h"
#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"

namespace lanescope::kernel_metrics {

// Each message is small enough for a frame (model/file/limits.h).
struct Evaluated {
  std::vector<proto::KernelMetrics> metrics;
  std::vector<proto::InstructionCounts> instructions;
  std::vector<proto::CodeObject> code;  // of which something was counted
  std::vector<proto::EventChunk> kernels;  // of which CUPTI had no times: they begin with their launch, and last as long as was counted
};

// As many messages as it takes, each with the first one's chip and metrics.
[[nodiscard]] std::vector<proto::KernelMetrics> cut_for_frames(proto::KernelMetrics whole);

class Evaluation {
 public:
  // `cupti` may be null where the plan is of instructions.
  Evaluation(const gpu_metrics::CuptiFunctions* cupti, ReadPlan plan) : cupti_(cupti), plan_(std::move(plan)) {}

  // Of the file of a process. Holds the values of all its launches, and one image at a time.
  [[nodiscard]] Evaluated evaluate(const std::filesystem::path& records);

 private:
  [[nodiscard]] Evaluated evaluate_instructions(const std::filesystem::path& records) const;
  const gpu_metrics::MetricProgram& program(std::uint32_t set);

  const gpu_metrics::CuptiFunctions* cupti_;
  ReadPlan plan_;
  std::map<std::uint32_t, std::unique_ptr<gpu_metrics::MetricProgram>> programs_;  // by set
};

}  // namespace lanescope::kernel_metrics
