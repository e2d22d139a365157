#include <algorithm>
#include <array>

#include "instructions/stall_reasons.h"
#include "model/kernels/counters/roofline.h"
#include "model/kernels/counters/sections.h"
#include "section_rows.h"

namespace lanescope::kernels {
namespace {

struct Underlying {
  std::string_view section;
  std::string_view metric;
};
// Metrics that rules and the roofline need in addition to rows: peaks, and counters that are available anyway.
constexpr std::array kUnderlying{
    Underlying{kSpeedOfLight, "smsp__inst_executed.sum"},
    Underlying{kSpeedOfLight, "sm__cycles_elapsed.avg"},
    Underlying{kSpeedOfLight, "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    Underlying{kSpeedOfLight, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"},
    Underlying{kCompute, "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Underlying{kCompute, "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"},
    Underlying{kCompute, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"},
    Underlying{kCompute, "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained"},
    Underlying{kMemory, "dram__bytes.sum.peak_sustained"},
    Underlying{kMemory, "lts__lts2xbar_cycles_active.sum.per_second"},
    Underlying{kMemory, "lts__lts2xbar_cycles_active.sum.peak_sustained"},
    Underlying{kMemory, "lts__cycles_elapsed.avg.per_second"},
    Underlying{kMemory, "l1tex__lsu_writeback_active_mem_lgds.sum.per_second"},
    Underlying{kMemory, "l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained"},
    Underlying{kMemory, "l1tex__cycles_elapsed.avg.per_second"},
    Underlying{kMemory, "lts__cycles_active.avg"},
    Underlying{kMemory, "lts__cycles_elapsed.avg"},
    Underlying{kTables, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"},
    Underlying{kTables, "lts__t_sectors_lookup_hit.sum"},
    Underlying{kTables, "lts__t_sectors_lookup_miss.sum"},
    Underlying{kTables, "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Underlying{kTables, "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed"},
    Underlying{kTensor, "sm__ops_path_tensor_src_tf32_dst_fp32.sum.peak_sustained"},
    Underlying{kTensor, "sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained"},
    Underlying{kTensor, "sm__ops_path_tensor_src_fp16.sum.peak_sustained"},
    Underlying{kTensor, "sm__ops_path_tensor_src_fp8.sum.peak_sustained"},
    Underlying{kOccupancy, "sm__cycles_active.avg"},
    Underlying{kOccupancy, "sm__cycles_active.max"},
};

// All of them fit into one pass on an H100, so that no kernel runs twice. With the throughput of another pipe they would need two.
constexpr std::array kTriage{
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_active.avg",
    "sm__cycles_active.max",
    "sm__cycles_elapsed.avg",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__bytes.sum.per_second",
    "dram__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "dram__cycles_elapsed.avg.per_second",
    "smsp__issue_active.avg.per_cycle_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_issued.sum",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
};

constexpr std::string_view kTriageName = "triage";

// False for names that only Nsight Compute provides: CUPTI does not know them.
bool is_counted(std::string_view metric) { return !metric.starts_with("memory_"); }

}  // namespace

std::vector<SectionMetrics> measurable_sections() {
  std::vector<SectionMetrics> all;
  for (const SectionTitle& title : kSections) {
    SectionMetrics section{title.name, title.title, {}};
    const auto add = [&](std::string metric) {
      if (is_counted(metric) && std::find(section.metrics.begin(), section.metrics.end(), metric) == section.metrics.end())
        section.metrics.push_back(std::move(metric));
    };
    for (const RowDescription& row : kRows)
      if (row.section == title.name) add(std::string(row.metric));
    for (const Underlying& one : kUnderlying)
      if (one.section == title.name) add(std::string(one.metric));
    if (title.name == kWarpStates)
      for (const std::string_view reason : stall_names()) add(stall_metric(reason));
    if (title.name == kRoofline)
      for (std::string& metric : roofline_metrics()) add(std::move(metric));
    if (title.name == kCompute)
      for (const char type : {'d', 'f', 'h'})
        for (const char* operation : {"add", "mul", "fma"})
          add(std::string("smsp__sass_thread_inst_executed_op_") + type + operation + "_pred_on.sum.per_cycle_elapsed");
    if (!section.metrics.empty()) all.push_back(std::move(section));
  }
  return all;
}

std::span<const SectionSet> section_sets() {
  static const std::array kSets{
      SectionSet{kTriageName, "What bounds each kernel, in one pass on an H100", {}},
      SectionSet{"basic", "Speed of light, launch and occupancy", {kSpeedOfLight, kLaunch, kOccupancy}},
      SectionSet{"detailed",
                 "The same, compute and memory workload, schedulers, warp states and instructions",
                 {kSpeedOfLight, kLaunch, kOccupancy, kCompute, kMemory, kTables, kScheduler, kWarpStates, kInstructions, kRoofline}},
      SectionSet{"full",
                 "All sections",
                 {kSpeedOfLight, kLaunch, kOccupancy, kCompute, kMemory, kTables, kScheduler, kWarpStates, kInstructions, kDistribution, kTensor, kRoofline}},
      SectionSet{"roofline", "What the roofline takes, beside the speed of light", {kSpeedOfLight, kLaunch, kOccupancy, kCompute, kMemory, kTensor, kRoofline}},
      SectionSet{kSourceSet, "Exact counts at each instruction and source line, in a run of the program for each kernel", {}},
  };
  return kSets;
}

std::vector<std::string> metrics_of_set(std::string_view name) {
  std::vector<std::string> metrics;
  if (name == kTriageName) metrics.assign(kTriage.begin(), kTriage.end());
  const std::vector<SectionMetrics> sections = measurable_sections();
  for (const SectionSet& set : section_sets()) {
    if (set.name != name) continue;
    for (const SectionMetrics& section : sections) {
      if (std::find(set.sections.begin(), set.sections.end(), section.name) == set.sections.end()) continue;
      for (const std::string& metric : section.metrics)
        if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
    }
  }
  // Hit rates come first, so that the two counts of each are in the same pass as long as it has room.
  std::stable_partition(metrics.begin(), metrics.end(), [](const std::string& metric) { return metric.ends_with("hit_rate.pct"); });
  return metrics;
}

}  // namespace lanescope::kernels
