// Evaluates what was counted: makes values of metrics, and events of the trace for the measured kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu_metrics/values/chip_metrics.h"
#include "kernel_metrics/plan.h"
#include "kernel_metrics/records.h"
#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"

namespace lanescope::kernel_metrics {

// Each message is small enough for a frame (model/file/limits.h).
struct Evaluated {
  std::vector<proto::KernelMetrics> metrics;
  std::vector<proto::InstructionCounts> instructions;
  std::vector<proto::CodeObject> code;     // code in which something was counted
  std::vector<proto::EventChunk> kernels;  // kernels without times from CUPTI: they begin with their launch, and last as long as counting took
};

// Splits `whole` into as many messages as needed. Each has the chip and metrics of `whole`.
[[nodiscard]] std::vector<proto::KernelMetrics> cut_for_frames(proto::KernelMetrics whole);

// Adds missing rates of instructions a cycle if their counts and cycles are present (groups_of_runs()). NaN if a count or the cycles are not known.
void add_rates(proto::KernelMetrics& metrics);

// For each launch of `run`: the position in `first` of the launch with the same kind (channel::launch_kind()) and the same number among launches of
// that kind; kNoLaunch if `first` has no such launch. O(launches).
inline constexpr std::size_t kNoLaunch = static_cast<std::size_t>(-1);
[[nodiscard]] std::vector<std::size_t> match_launches(std::span<const std::uint64_t> first, std::span<const std::uint64_t> run);

class Evaluation {
 public:
  // `cupti` may be null if the plan counts instructions.
  Evaluation(const gpu_metrics::CuptiFunctions* cupti, ReadPlan plan) : cupti_(cupti), plan_(std::move(plan)) {}

  // Does in advance what evaluate() needs only once for all files. It takes 0.1 s in NVIDIA's library. Returns false if CUPTI knows none of the metrics of
  // a set; a further call tries again.
  bool prepare();
  // Evaluates the file of a process, and its files of further runs, each of which counted another set of the same launches. Memory use: the values of
  // all launches, and one image.
  [[nodiscard]] Evaluated evaluate(const std::filesystem::path& records, std::span<const std::filesystem::path> further_runs = {});

 private:
  [[nodiscard]] Evaluated evaluate_instructions(const std::filesystem::path& records) const;
  using Columns = std::unordered_map<std::string, int>;  // column of each metric
  // A launch that was counted in the first run.
  struct FirstRun {
    std::uint64_t kind = 0;  // channel::launch_kind()
    std::string name;
    proto::MeasuredLaunch* launch = nullptr;
    std::size_t further_runs = 0;  // number of further runs that counted it too
  };
  // Adds what a further run counted of the first run's launches.
  void add_further_run(const std::filesystem::path& records, const Columns& columns, std::span<FirstRun> first_run);
  const gpu_metrics::MetricProgram& program(std::uint32_t set);
  // Computes values of a set; NaN if they are not known. Returns false if CUPTI can't compute them.
  bool make_values(const Counted& counted, std::vector<double>& values);

  const gpu_metrics::CuptiFunctions* cupti_;
  ReadPlan plan_;
  std::map<std::uint32_t, std::unique_ptr<gpu_metrics::MetricProgram>> programs_;  // by set
};

}  // namespace lanescope::kernel_metrics
