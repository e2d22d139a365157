#include "model/kernels/sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "model/kernels/occupancy.h"
#include "section_rows.h"
#include "stall_reasons.h"

namespace lanescope::kernels {
namespace {

void add_shape(const ProfiledKernel& kernel, std::vector<Section>& all) {
  const auto rows = [&all](std::string_view name) -> std::vector<SectionRow>& {
    return std::find_if(all.begin(), all.end(), [&](const Section& section) { return section.name == name; })->rows;
  };
  const auto add = [](std::vector<SectionRow>& to, std::string_view label, double value, ValueUnit unit = ValueUnit::kNumber) {
    to.push_back({label, value, unit});
  };
  const KernelDetail& detail = kernel.detail;
  if (blocks_of_grid(detail) == 0) return;
  std::vector<SectionRow>& launch = rows(kLaunch);
  add(launch, "Blocks", static_cast<double>(blocks_of_grid(detail)));
  add(launch, "Threads a block", static_cast<double>(threads_of_block(detail)));
  add(launch, "Registers a thread", detail.registers_per_thread);
  add(launch, "Static shared memory a block", detail.static_shared_memory, ValueUnit::kBytes);
  add(launch, "Dynamic shared memory a block", detail.dynamic_shared_memory, ValueUnit::kBytes);
  const auto held = occupancy(detail, kernel.gpu);
  if (!held) return;
  if (const auto run = waves(detail, kernel.gpu, *held)) {
    add(launch, "Waves", run->waves());
    add(launch, "Multiprocessors without a block", 100 * run->idle_multiprocessors(), ValueUnit::kPercent);
    add(launch, "Empty in the last wave", 100 * run->tail_share(), ValueUnit::kPercent);
  }
  std::vector<SectionRow>& occupancy_rows = rows(kOccupancy);
  add(occupancy_rows, "Theoretical", 100 * held->share(), ValueUnit::kPercent);
  add(occupancy_rows, "Blocks by warps", held->limit(Limiter::kWarps));
  add(occupancy_rows, "Blocks by registers", held->limit(Limiter::kRegisters));
  add(occupancy_rows, "Blocks by shared memory", held->limit(Limiter::kSharedMemory));
  add(occupancy_rows, "Blocks at most", held->limit(Limiter::kBlocks));
}

// Sectors of a request: 4 where each thread of a warp takes the 4 bytes behind its neighbour's.
void add_ratios(const KernelMetrics& metrics, const ProfiledKernel& kernel, Section& tables) {
  struct Ratio {
    std::string_view label, part, whole;
  };
  constexpr std::array kRatios{
      Ratio{"Global loads: sectors a request", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
      Ratio{"Global stores: sectors a request", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
  };
  for (const Ratio& ratio : kRatios) {
    const auto part = metrics.value(kernel, ratio.part), whole = metrics.value(kernel, ratio.whole);
    if (part && whole && *whole > 0) tables.rows.push_back({ratio.label, *part / *whole, ValueUnit::kNumber});
  }
}

}  // namespace

std::vector<Section> sections(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  std::vector<Section> all;
  for (const SectionTitle& title : kSections) all.push_back({title.name, title.title, {}});
  for (const RowDescription& row : kRows) {
    const auto section = std::find_if(all.begin(), all.end(), [&](const Section& candidate) { return candidate.name == row.section; });
    if (const auto value = metrics.value(kernel, row.metric)) section->rows.push_back({row.label, *value, row.unit});
    if (row.section == kTables && row.metric == "dram__bytes_write.sum") add_ratios(metrics, kernel, *section);
  }
  for (const Stall& stall : stalls(metrics, kernel)) {
    const auto section = std::find_if(all.begin(), all.end(), [](const Section& candidate) { return candidate.name == kWarpStates; });
    section->rows.push_back({stall.reason->name, stall.cycles, ValueUnit::kCycles});
  }
  add_shape(kernel, all);
  std::erase_if(all, [](const Section& section) { return section.rows.empty(); });
  return all;
}

Nanoseconds duration(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  constexpr double kLongest = 1e18;
  const auto value = metrics.value(kernel, "gpu__time_duration.sum");
  return value ? static_cast<Nanoseconds>(std::llround(std::clamp(*value, 0.0, kLongest))) : 0;
}

}  // namespace lanescope::kernels
