#include "model/kernels/counters/memory_traffic.h"

#include <algorithm>
#include <array>

#include "memory_units.h"

namespace lanescope::kernels {
namespace {

using enum MemoryPlace;

struct Way {
  MemoryPlace from;
  MemoryPlace to;
  std::string_view what;
  std::string_view metric;
  double bytes;          // bytes for each unit; 0: not bytes
  std::string_view use;  // a metric; empty: none
};
constexpr std::array kWays{
    Way{kL1, kKernel, "Global loads", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", kSectorBytes, ""},
    Way{kKernel, kL1, "Global stores", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", kSectorBytes, ""},
    Way{kL1, kKernel, "Local loads", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", kSectorBytes, ""},
    Way{kKernel, kL1, "Local stores", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", kSectorBytes, ""},
    Way{kKernel, kSharedMemory, "Wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0, ""},
    Way{kKernel, kSharedMemory, "Bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 0, ""},
    Way{kL2, kL1, "Read", "lts__t_sectors_srcunit_tex_op_read.sum", kSectorBytes, "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Way{kL1, kL2, "Written", "lts__t_sectors_srcunit_tex_op_write.sum", kSectorBytes, "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Way{kL1, kL2, "Reduced", "lts__t_sectors_srcunit_tex_op_red.sum", kSectorBytes, "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Way{kDram, kL2, "Read", "dram__bytes_read.sum", 1, "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Way{kL2, kDram, "Written", "dram__bytes_write.sum", 1, "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"},
};

struct Level {
  MemoryPlace place;
  std::string_view hit_rate;
  std::string_view use;
};
constexpr std::array kLevels{
    Level{kL1, "l1tex__t_sector_hit_rate.pct", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"},
    Level{kSharedMemory, "", ""},
    Level{kL2, "lts__t_sector_hit_rate.pct", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    Level{kDram, "", "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"},
};

}  // namespace

MemoryTraffic memory_traffic(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  const auto find = [&](std::string_view metric) { return metric.empty() ? std::nullopt : metrics.value(kernel, metric); };
  MemoryTraffic traffic;
  for (const Way& way : kWays)
    if (const auto count = find(way.metric); count && *count > 0)
      traffic.ways.push_back(
          {way.from, way.to, way.what, way.bytes > 0 ? *count * way.bytes : *count, way.bytes > 0 ? ValueUnit::kBytes : ValueUnit::kNumber, find(way.use)});
  for (const Level& level : kLevels) {
    const auto ends_there = [&level](const MemoryWay& way) { return way.from == level.place || way.to == level.place; };
    if (std::any_of(traffic.ways.begin(), traffic.ways.end(), ends_there)) traffic.levels.push_back({level.place, find(level.hit_rate), find(level.use)});
  }
  return traffic;
}

}  // namespace lanescope::kernels
