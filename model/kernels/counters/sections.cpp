#include "model/kernels/counters/sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "instructions/stall_reasons.h"
#include "model/kernels/counters/roofline.h"
#include "model/kernels/instructions/instruction_mix.h"
#include "model/kernels/occupancy.h"
#include "section_rows.h"

namespace lanescope::kernels {
namespace {

// Requires: the section exists.
Section& named(std::vector<Section>& all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(), [name](const Section& section) { return section.name == name; });
}

void add_shape(const ProfiledKernel& kernel, std::vector<Section>& all) {
  const auto rows = [&all](std::string_view name) -> std::vector<SectionRow>& { return named(all, name).rows; };
  const auto add = [](std::vector<SectionRow>& to, std::string_view label, double value, ValueUnit unit = ValueUnit::kNumber) {
    to.push_back({Message(label), value, unit});
  };
  const KernelDetail& detail = kernel.detail;
  if (blocks_of_grid(detail) == 0) return;
  std::vector<SectionRow>& launch = rows(kLaunch);
  add(launch, "Blocks", static_cast<double>(blocks_of_grid(detail)));
  if (threads_of_block(detail) == 0) return;  // CUPTI's record of the launch is missing, because the program was ended first
  add(launch, "Threads a block", static_cast<double>(threads_of_block(detail)));
  add(launch, "Registers a thread", detail.registers_per_thread);
  add(launch, "Static shared memory a block", detail.static_shared_memory, ValueUnit::kBytes);
  add(launch, "Dynamic shared memory a block", detail.dynamic_shared_memory, ValueUnit::kBytes);
  const auto held = occupancy(detail, kernel.gpu);
  if (!held) return;
  if (const auto run = waves(detail, kernel.gpu, *held)) {
    const bool is_known = run->places == Waves::Places::kKnown;
    add(launch, is_known ? "Waves" : "Waves, or more", run->waves());
    add(launch, "Multiprocessors without a block", 100 * run->idle_multiprocessors(), ValueUnit::kPercent);
    if (is_known) add(launch, "Empty in the last wave", 100 * run->tail_share(), ValueUnit::kPercent);
  }
  std::vector<SectionRow>& occupancy_rows = rows(kOccupancy);
  add(occupancy_rows, "Theoretical", 100 * held->share(), ValueUnit::kPercent);
  add(occupancy_rows, "Blocks by warps", held->limit(Limiter::kWarps));
  add(occupancy_rows, "Blocks by registers", held->limit(Limiter::kRegisters));
  add(occupancy_rows, "Blocks by shared memory", held->limit(Limiter::kSharedMemory));
  add(occupancy_rows, "Blocks at most", held->limit(Limiter::kBlocks));
  if (held->limit(Limiter::kClusters) != kUnlimited) add(occupancy_rows, "Blocks in clusters at most", held->limit(Limiter::kClusters));
}

// Sectors of a request: 4 if each thread of a warp accesses the 4 bytes after its neighbour's.
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
    if (part && whole && *whole > 0) tables.rows.push_back({Message(ratio.label), *part / *whole, ValueUnit::kNumber});
  }
}

// A throughput is the maximum of its parts: the measured parts of compute and of memory are listed, the busiest first. Pipes are measured while a
// multiprocessor is active, and are converted to the kernel's time.
void add_breakdown(const KernelMetrics& metrics, const ProfiledKernel& kernel, Section& breakdown) {
  enum class Of { kElapsed, kActive };
  struct Part {
    std::string_view label, metric;
    Of of = Of::kElapsed;
  };
  constexpr std::array kParts{
      Part{"Compute: issue slots", "smsp__issue_active.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: ALU", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: FMA", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: FP64", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: tensor cores", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: LSU", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: XU", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Compute: ADU", "sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_active", Of::kActive},
      Part{"Memory: L1 data pipe", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"},
      Part{"Memory: requests of L1 to L2", "l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed"},
      Part{"Memory: SM to L2", "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed"},
      Part{"Memory: L2 to SM", "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed"},
      Part{"Memory: sectors of L2", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"},
      Part{"Memory: look-ups in L2", "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed"},
      Part{"Memory: DRAM", "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"},
  };
  const auto active = metrics.value(kernel, "sm__cycles_active.avg"), elapsed = metrics.value(kernel, "sm__cycles_elapsed.avg");
  const double share = active && elapsed && *elapsed > 0 ? std::min(1.0, *active / *elapsed) : 1;
  for (const Part& part : kParts)
    if (const auto value = metrics.value(kernel, part.metric); value && *value > 0)
      breakdown.rows.push_back({Message(part.label), part.of == Of::kActive ? *value * share : *value, ValueUnit::kPercent});
  std::stable_sort(breakdown.rows.begin(), breakdown.rows.end(), [](const SectionRow& a, const SectionRow& b) { return a.value > b.value; });
}

// The content of the chart in numbers: for each precision the achieved and the possible rate, and the limit that each memory sets.
void add_roofline(const Roofline& roofline, Section& section) {
  if (roofline.points.empty()) return;
  const auto add = [&section](Message label, double value, ValueUnit unit) { section.rows.push_back({std::move(label), value, unit}); };
  std::string_view precision;
  for (const RooflinePoint& point : roofline.points) {
    const Message name(point.ceiling.precision);
    if (precision != point.ceiling.precision) {
      add(Message("{precision}: arithmetic", {{"precision", name}}), point.operations, ValueUnit::kOperationsPerSecond);
      add(Message("{precision}: at most", {{"precision", name}}), point.ceiling.operations, ValueUnit::kOperationsPerSecond);
    }
    precision = point.ceiling.precision;
    const std::vector<Message::Value> both{{"precision", name}, {"memory", Message(point.roof.memory)}};
    add(Message("{precision}: operations for a byte of {memory}", both), point.intensity(), ValueUnit::kNumber);
    add(Message("{precision}: of what {memory} and arithmetic allow", both), 100 * point.operations / point.attainable(), ValueUnit::kPercent);
  }
  for (const Roof& roof : roofline.roofs) add(Message("{memory}: at most", {{"memory", Message(roof.memory)}}), roof.bytes, ValueUnit::kBytesPerSecond);
}

}  // namespace

std::vector<Section> sections(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  std::vector<Section> all;
  for (const SectionTitle& title : kSections) all.push_back({title.name, title.title, {}});
  for (const RowDescription& row : kRows) {
    Section& section = named(all, row.section);
    if (const auto value = metrics.value(kernel, row.metric)) section.rows.push_back({Message(row.label), *value, row.unit});
    if (row.section == kTables && row.metric == "dram__bytes_write.sum") add_ratios(metrics, kernel, section);
  }
  for (const Stall& stall : stalls(metrics, kernel)) named(all, kWarpStates).rows.push_back({Message(stall.reason->name), stall.cycles, ValueUnit::kCycles});
  for (SectionRow& row : opcode_rows(kernel.opcodes)) named(all, kInstructions).rows.push_back(std::move(row));
  add_breakdown(metrics, kernel, named(all, kBreakdown));
  add_shape(kernel, all);
  add_roofline(roofline(metrics, kernel), named(all, kRoofline));
  std::erase_if(all, [](const Section& section) { return section.rows.empty(); });
  return all;
}

Nanoseconds duration(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  const auto value = metrics.value(kernel, "gpu__time_duration.sum");
  return value ? static_cast<Nanoseconds>(std::llround(*value)) : 0;
}

}  // namespace lanescope::kernels
