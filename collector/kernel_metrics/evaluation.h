// From what was counted to what it means: values of metrics, and the kernels that were measured as events of the trace.
#pragma once

#include <cstdint>
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

struct Evaluated {
  proto::KernelMetrics metrics;
  proto::EventChunk kernels;  // of which CUPTI had no times: they begin with their launch, and last as long as was counted
  std::uint32_t refused = 0;  // images of which CUPTI could make nothing
};

class Evaluation {
 public:
  Evaluation(const gpu_metrics::CuptiFunctions& cupti, ReadPlan plan) : cupti_(cupti), plan_(std::move(plan)) {}

  [[nodiscard]] Evaluated evaluate(const ProcessRecords& records);

 private:
  const gpu_metrics::MetricProgram& program(std::uint32_t set);

  const gpu_metrics::CuptiFunctions& cupti_;
  ReadPlan plan_;
  std::map<std::uint32_t, std::unique_ptr<gpu_metrics::MetricProgram>> programs_;  // by set
};

}  // namespace lanescope::kernel_metrics
