// From what was counted to what it means: values of metrics, and the kernels that were measured as events of the trace.
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
  std::vector<proto::CodeObject> code;     // of which something was counted
  std::vector<proto::EventChunk> kernels;  // of which CUPTI had no times: they begin with their launch, and last as long as was counted
};

// As many messages as it takes, each with the first one's chip and metrics.
[[nodiscard]] std::vector<proto::KernelMetrics> cut_for_frames(proto::KernelMetrics whole);

// Adds rates of instructions a cycle that are not there and whose counts and cycles are (groups_of_runs()). NaN where either is not known.
void add_rates(proto::KernelMetrics& metrics);

// Of each launch of a run, by its kind (channel::launch_kind()): the position in the first run of the launch of the same kind and number among its like;
// kNoLaunch where that had none. O(launches).
inline constexpr std::size_t kNoLaunch = static_cast<std::size_t>(-1);
[[nodiscard]] std::vector<std::size_t> match_launches(std::span<const std::uint64_t> first, std::span<const std::uint64_t> run);

class Evaluation {
 public:
  // `cupti` may be null where the plan is of instructions.
  Evaluation(const gpu_metrics::CuptiFunctions* cupti, ReadPlan plan) : cupti_(cupti), plan_(std::move(plan)) {}

  // Does now what evaluate() would do first, once for all files: 0.1 s, of NVIDIA's library.
  void prepare() {
    for (std::uint32_t set = 0; set < plan_.sets.size(); ++set) program(set);
  }
  // Of the file of a process, and of its files in further runs, each of which counted another set of the same launches. Holds the values of all its
  // launches, and one image at a time.
  [[nodiscard]] Evaluated evaluate(const std::filesystem::path& records, std::span<const std::filesystem::path> further_runs = {});

 private:
  [[nodiscard]] Evaluated evaluate_instructions(const std::filesystem::path& records) const;
  using Columns = std::unordered_map<std::string, int>;  // of metrics
  // A launch that was counted in the first run.
  struct FirstRun {
    std::uint64_t kind = 0;  // channel::launch_kind()
    std::string name;
    proto::MeasuredLaunch* launch = nullptr;
    std::size_t further_runs = 0;  // that counted it as well
  };
  // What a further run counted of the first one's launches.
  void add_further_run(const std::filesystem::path& records, const Columns& columns, std::span<FirstRun> first_run);
  const gpu_metrics::MetricProgram& program(std::uint32_t set);
  // Values of a set, NaN where they are not known; false where CUPTI can't make them.
  bool make_values(const Counted& counted, std::vector<double>& values);

  const gpu_metrics::CuptiFunctions* cupti_;
  ReadPlan plan_;
  std::map<std::uint32_t, std::unique_ptr<gpu_metrics::MetricProgram>> programs_;  // by set
};

}  // namespace lanescope::kernel_metrics
