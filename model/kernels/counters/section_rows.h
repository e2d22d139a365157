// The sections and their rows: which metrics are shown. Internal to model/kernels.
#pragma once

#include <array>
#include <string_view>

#include "instructions/stall_reasons.h"
#include "model/kernels/counters/sections.h"

namespace lanescope::kernels {

struct RowDescription {
  std::string_view section;
  std::string_view label;
  std::string_view metric;
  ValueUnit unit = ValueUnit::kPercent;
};

inline constexpr std::string_view kSpeedOfLight = "SpeedOfLight";
inline constexpr std::string_view kBreakdown = "SpeedOfLight_Breakdown";
inline constexpr std::string_view kCompute = "ComputeWorkloadAnalysis";
inline constexpr std::string_view kMemory = "MemoryWorkloadAnalysis";
inline constexpr std::string_view kRoofline = "SpeedOfLight_RooflineChart";
inline constexpr std::string_view kTensor = "SpeedOfLight_HierarchicalTensorRooflineChart";
inline constexpr std::string_view kTables = "MemoryWorkloadAnalysis_Tables";
inline constexpr std::string_view kScheduler = "SchedulerStats";
inline constexpr std::string_view kWarpStates = "WarpStateStats";
inline constexpr std::string_view kInstructions = "InstructionStats";
inline constexpr std::string_view kLaunch = "LaunchStats";
inline constexpr std::string_view kOccupancy = "Occupancy";
inline constexpr std::string_view kDistribution = "WorkloadDistribution";
inline constexpr std::string_view kSource = "SourceCounters";

struct SectionTitle {
  std::string_view name;
  std::string_view title;
};
inline constexpr std::array kSections{
    SectionTitle{kSpeedOfLight, "GPU speed of light"},
    SectionTitle{kBreakdown, "Speed of light: the busiest parts"},
    SectionTitle{kCompute, "Compute workload"},
    SectionTitle{kMemory, "Memory workload"},
    SectionTitle{kTables, "Memory tables"},
    SectionTitle{kScheduler, "Scheduler statistics"},
    SectionTitle{kWarpStates, "Warp states: cycles for an instruction issued"},
    SectionTitle{kInstructions, "Instruction statistics"},
    SectionTitle{kLaunch, "Launch"},
    SectionTitle{kOccupancy, "Occupancy"},
    SectionTitle{kDistribution, "Workload distribution: active cycles"},
    SectionTitle{kSource, "Source counters"},
    SectionTitle{kTensor, "Tensor cores: operations a cycle"},
    SectionTitle{kRoofline, "Roofline"},
};

inline constexpr std::array kRows{
    RowDescription{kSpeedOfLight, "Duration", "gpu__time_duration.sum", ValueUnit::kNanoseconds},
    RowDescription{kSpeedOfLight, "Compute (SM) throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kSpeedOfLight, "Memory throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kSpeedOfLight, "L1 cache throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    RowDescription{kSpeedOfLight, "L2 cache throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kSpeedOfLight, "DRAM throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kSpeedOfLight, "Elapsed cycles", "gpc__cycles_elapsed.max", ValueUnit::kCycles},
    RowDescription{kSpeedOfLight, "SM active cycles", "sm__cycles_active.avg", ValueUnit::kCycles},
    RowDescription{kSpeedOfLight, "SM frequency", "gpc__cycles_elapsed.avg.per_second", ValueUnit::kHertz},
    RowDescription{kSpeedOfLight, "DRAM frequency", "dram__cycles_elapsed.avg.per_second", ValueUnit::kHertz},
    RowDescription{kCompute, "Executed IPC, active", "sm__inst_executed.avg.per_cycle_active", ValueUnit::kNumber},
    RowDescription{kCompute, "Executed IPC, elapsed", "sm__inst_executed.avg.per_cycle_elapsed", ValueUnit::kNumber},
    RowDescription{kCompute, "ALU", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "FMA", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "FP64", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "Tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "LSU", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "XU", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "ADU", "sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_active"},
    RowDescription{kCompute, "TMA", "sm__inst_executed_pipe_tma.avg.pct_of_peak_sustained_active"},
    RowDescription{kMemory, "DRAM bandwidth", "dram__bytes.sum.per_second", ValueUnit::kBytesPerSecond},
    RowDescription{kMemory, "DRAM busy", "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kMemory, "L1 hit rate", "l1tex__t_sector_hit_rate.pct"},
    RowDescription{kMemory, "L2 hit rate", "lts__t_sector_hit_rate.pct"},
    RowDescription{kMemory, "L1 data pipe (LSU wavefronts)", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kMemory, "SM to L2", "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kMemory, "L2 to SM", "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    RowDescription{kTables, "Global loads: instructions", "smsp__sass_inst_executed_op_global_ld.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Global loads: requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Global loads: sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Global loads: bytes used of a sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", ValueUnit::kBytes},
    RowDescription{kTables, "Global stores: instructions", "smsp__sass_inst_executed_op_global_st.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Global stores: requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Global stores: sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Global stores: bytes used of a sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", ValueUnit::kBytes},
    RowDescription{kTables, "Local loads: instructions", "smsp__sass_inst_executed_op_local_ld.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Local loads: sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Local stores: instructions", "smsp__sass_inst_executed_op_local_st.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Local stores: sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Shared memory: wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", ValueUnit::kNumber},
    RowDescription{kTables, "Shared memory: bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", ValueUnit::kNumber},
    RowDescription{kTables, "L2: sectors read by SMs", "lts__t_sectors_srcunit_tex_op_read.sum", ValueUnit::kNumber},
    RowDescription{kTables, "L2: sectors written by SMs", "lts__t_sectors_srcunit_tex_op_write.sum", ValueUnit::kNumber},
    RowDescription{kTables, "L2: reductions by SMs", "lts__t_sectors_srcunit_tex_op_red.sum", ValueUnit::kNumber},
    RowDescription{kTables, "DRAM: read", "dram__bytes_read.sum", ValueUnit::kBytes},
    RowDescription{kTables, "DRAM: written", "dram__bytes_write.sum", ValueUnit::kBytes},
    RowDescription{kScheduler, "Warps resident", "smsp__warps_active.avg.per_cycle_active", ValueUnit::kNumber},
    RowDescription{kScheduler, "Warps eligible", "smsp__warps_eligible.avg.per_cycle_active", ValueUnit::kNumber},
    RowDescription{kScheduler, "Warps issued", "smsp__issue_active.avg.per_cycle_active", ValueUnit::kNumber},
    RowDescription{kScheduler, "Cycles in which one issued", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    RowDescription{kWarpStates, "All states", kWarpLatency, ValueUnit::kCycles},
    RowDescription{kInstructions, "Executed", "smsp__inst_executed.sum", ValueUnit::kNumber},
    RowDescription{kInstructions, "Issued", "smsp__inst_issued.sum", ValueUnit::kNumber},
    RowDescription{kInstructions, "Threads of a warp active", "smsp__thread_inst_executed_per_inst_executed.ratio", ValueUnit::kNumber},
    RowDescription{kInstructions, "Threads of a warp not predicated off", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", ValueUnit::kNumber},
    RowDescription{kOccupancy, "Achieved", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    RowDescription{kDistribution, "Multiprocessors, mean", "sm__cycles_active.avg", ValueUnit::kCycles},
    RowDescription{kDistribution, "Multiprocessors, most", "sm__cycles_active.max", ValueUnit::kCycles},
    RowDescription{kDistribution, "Schedulers, mean", "smsp__cycles_active.avg", ValueUnit::kCycles},
    RowDescription{kDistribution, "Schedulers, most", "smsp__cycles_active.max", ValueUnit::kCycles},
    RowDescription{kDistribution, "L1 caches, mean", "l1tex__cycles_active.avg", ValueUnit::kCycles},
    RowDescription{kDistribution, "L1 caches, most", "l1tex__cycles_active.max", ValueUnit::kCycles},
    RowDescription{kDistribution, "Slices of the L2 cache, mean", "lts__cycles_active.avg", ValueUnit::kCycles},
    RowDescription{kDistribution, "Slices of the L2 cache, most", "lts__cycles_active.max", ValueUnit::kCycles},
    RowDescription{kDistribution, "DRAM channels, mean", "dram__cycles_active.avg", ValueUnit::kCycles},
    RowDescription{kDistribution, "DRAM channels, most", "dram__cycles_active.max", ValueUnit::kCycles},
    RowDescription{kTensor, "TF32", "sm__ops_path_tensor_src_tf32_dst_fp32.sum.per_cycle_elapsed", ValueUnit::kNumber},
    RowDescription{kTensor, "BF16", "sm__ops_path_tensor_src_bf16_dst_fp32.sum.per_cycle_elapsed", ValueUnit::kNumber},
    RowDescription{kTensor, "FP16", "sm__ops_path_tensor_src_fp16.sum.per_cycle_elapsed", ValueUnit::kNumber},
    RowDescription{kTensor, "FP8", "sm__ops_path_tensor_src_fp8.sum.per_cycle_elapsed", ValueUnit::kNumber},
    RowDescription{kSource, "Global memory: sectors as accessed", "memory_l2_theoretical_sectors_global", ValueUnit::kNumber},
    RowDescription{kSource, "Global memory: sectors at best", "memory_l2_theoretical_sectors_global_ideal", ValueUnit::kNumber},
    RowDescription{kSource, "Local memory: sectors as accessed", "memory_l2_theoretical_sectors_local", ValueUnit::kNumber},
    RowDescription{kSource, "Shared memory: wavefronts as accessed", "memory_l1_wavefronts_shared", ValueUnit::kNumber},
    RowDescription{kSource, "Shared memory: wavefronts at best", "memory_l1_wavefronts_shared_ideal", ValueUnit::kNumber},
};

}  // namespace lanescope::kernels
