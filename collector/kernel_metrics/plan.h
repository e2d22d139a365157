// What the processes of a recording count: turns names of metrics into the plan (collector/channel/kernel_counters.h).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "collector/channel/kernel_counters.h"
#include "gpu_metrics/values/chip_metrics.h"
#include "model/file/result.h"

namespace lanescope::kernel_metrics {

// Those of the metrics that a chip has, in their order. Takes about 5 ms for each metric that it does not have, times the logarithm of their number.
[[nodiscard]] std::vector<std::string> known_metrics(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics);

// What the hardware is to do for these metrics. Needs no GPU.
[[nodiscard]] gpu_metrics::MetricProgram program_of(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics);

// Number of passes that the metrics take together on a chip; 0 if CUPTI refuses one of them. Needs no GPU.
[[nodiscard]] std::size_t passes_of(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics);

struct OnePassGroups {
  std::vector<std::vector<std::string>> groups;  // at least one; each begins with `always`
  std::vector<std::string> left_out;             // metrics that take several passes each
};
// Divides the metrics into groups of one pass each, in their order, each metric once. Requires: `always` takes one pass.
[[nodiscard]] OnePassGroups groups_of_one_pass(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> always,
                                               std::span<const std::string> metrics);

// The same for runs of the program, which identify launches by number. Counts of instructions take a pass of their own, so they are in groups without
// `always`. A rate of them, X.sum.per_cycle_elapsed, is counted as X.sum in one run and as cycles (kCycles) in another, and the evaluation divides.
inline constexpr char kOfInstructions[] = "smsp__sass_";
inline constexpr char kPerCycle[] = ".per_cycle_elapsed";
inline constexpr char kCycles[] = "sm__cycles_elapsed.avg";
[[nodiscard]] OnePassGroups groups_of_runs(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> always,
                                           std::span<const std::string> metrics);

// A set of the plan as it is read back.
struct PlannedSet {
  std::string chip;
  std::uint32_t passes = 0;
  std::vector<std::string> metrics;
};
struct ReadPlan {
  channel::CounterKind kind = channel::CounterKind::kHardware;
  channel::CounterReplay replay = channel::CounterReplay::kNone;
  std::vector<PlannedSet> sets;
};

class PlanWriter {
 public:
  PlanWriter(channel::CounterReplay replay, const channel::LaunchChoice& choice);
  // Writes a plan for counting instructions, with these metrics; a chip may not have all of them.
  PlanWriter(std::span<const std::string> instruction_metrics, const channel::LaunchChoice& choice);
  // Requires: CUPTI accepts the metrics.
  void add(const gpu_metrics::CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics);
  // The same with what was made of the metrics already.
  void add(const gpu_metrics::MetricProgram& counted, const std::string& chip, std::span<const std::string> metrics);
  // The file appears complete or not at all.
  [[nodiscard]] bool write(const std::filesystem::path& folder);

 private:
  void add(const channel::CounterSet& set, std::span<const std::uint8_t> config, std::span<const std::string> metrics);

  channel::CounterPlan plan_{};
  std::string bytes_;
};

Result<ReadPlan> read_plan(const std::filesystem::path& folder);

}  // namespace lanescope::kernel_metrics
