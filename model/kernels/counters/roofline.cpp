#include "model/kernels/counters/roofline.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace lanescope::kernels {
namespace {

struct Precision {
  std::string_view name;
  char letter;    // in the names of its metrics
  double values;  // values that an instruction of a thread processes
};
// An instruction of half precision processes a pair of values. No counter distinguishes FP16 and BF16.
constexpr std::array kPrecisions{Precision{"FP32", 'f', 1}, Precision{"FP64", 'd', 1}, Precision{"FP16 and BF16", 'h', 2}};
constexpr double kFused = 2;  // operations of a multiply-add
constexpr std::array kOperations{std::pair("add", 1.0), std::pair("mul", 1.0), std::pair("fma", kFused)};

std::string executed_metric(const Precision& precision, const char* operation) {
  return std::string("smsp__sass_thread_inst_executed_op_") + precision.letter + operation + "_pred_on.sum.per_cycle_elapsed";
}
std::string peak_metric(const Precision& precision) {
  return std::string("sm__sass_thread_inst_executed_op_") + precision.letter + "fma_pred_on.sum.peak_sustained";
}

// Precisions of tensor cores, by their inputs.
struct TensorPrecision {
  std::string_view name;
  std::string_view metric;  // operations; a multiply-add counts as two
};
constexpr std::array kTensorPrecisions{
    TensorPrecision{"TF32 tensor", "sm__ops_path_tensor_src_tf32_dst_fp32"},
    TensorPrecision{"BF16 tensor", "sm__ops_path_tensor_src_bf16_dst_fp32"},
    TensorPrecision{"FP16 tensor", "sm__ops_path_tensor_src_fp16"},
    TensorPrecision{"FP8 tensor", "sm__ops_path_tensor_src_fp8"},
};

struct Memory {
  std::string_view name;
  std::string_view moved;  // per second
  std::string_view peak;   // per cycle
  std::string_view clock;
  double bytes;  // bytes for each unit
};
constexpr std::array kMemories{
    Memory{"DRAM", "dram__bytes.sum.per_second", "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second", 1},
    Memory{"L2", "lts__lts2xbar_cycles_active.sum.per_second", "lts__lts2xbar_cycles_active.sum.peak_sustained", "lts__cycles_elapsed.avg.per_second", 32},
    Memory{"L1", "l1tex__lsu_writeback_active_mem_lgds.sum.per_second", "l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained",
           "l1tex__cycles_elapsed.avg.per_second", 128},
};

constexpr std::string_view kClock = "gpc__cycles_elapsed.avg.per_second";  // of multiprocessors

class Reader {
 public:
  Reader(const KernelMetrics& metrics, const ProfiledKernel& kernel) : metrics_(metrics), kernel_(kernel) {
    clock_ = get("sm__cycles_elapsed.avg.per_second");
    if (!clock_) clock_ = get(kClock);
  }

  [[nodiscard]] std::optional<double> get(std::string_view metric) const { return metrics_.value(kernel_, metric); }
  [[nodiscard]] std::optional<Ceiling> ceiling(const Precision& precision) const {
    const auto lanes = get(peak_metric(precision));
    if (!lanes || !clock_ || *lanes <= 0) return std::nullopt;
    return Ceiling{precision.name, kFused * precision.values * *lanes * *clock_};
  }
  // Per second; nothing if one kind of operation was not counted.
  [[nodiscard]] std::optional<double> operations(const Precision& precision) const {
    double a_cycle = 0;
    for (const auto& [operation, weight] : kOperations) {
      const auto lanes = get(executed_metric(precision, operation));
      if (!lanes) return std::nullopt;
      a_cycle += weight * precision.values * *lanes;
    }
    if (!clock_) return std::nullopt;
    return a_cycle * *clock_;
  }
  [[nodiscard]] std::optional<Ceiling> ceiling(const TensorPrecision& precision) const {
    const auto peak = a_second(precision, ".sum.peak_sustained");
    return peak ? std::optional(Ceiling{precision.name, *peak}) : std::nullopt;
  }
  // Per second; nothing if the kernel did none, so that formats that a kernel does not use are no ceilings.
  [[nodiscard]] std::optional<double> operations(const TensorPrecision& precision) const {
    const auto done = a_second(precision, ".sum.per_cycle_elapsed");
    return done && *done > 0 ? done : std::nullopt;
  }
  [[nodiscard]] std::optional<Roof> roof(const Memory& memory) const {
    const auto peak = get(memory.peak), clock = get(memory.clock);
    if (peak && clock && *peak * *clock > 0) return Roof{memory.name, *peak * *clock * memory.bytes};
    if (memory.name == "DRAM" && kernel_.gpu.memory_bandwidth > 0) return Roof{memory.name, static_cast<double>(kernel_.gpu.memory_bandwidth)};
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<double> a_second(const TensorPrecision& precision, std::string_view a_cycle) const {
    const auto operations = get(std::string(precision.metric) + std::string(a_cycle));
    return operations && clock_ ? std::optional(*operations * *clock_) : std::nullopt;
  }

  const KernelMetrics& metrics_;
  const ProfiledKernel& kernel_;
  std::optional<double> clock_;  // of multiprocessors, Hz
};

}  // namespace

Roofline roofline(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  const Reader reader(metrics, kernel);
  Roofline result;
  std::vector<std::pair<Roof, double>> moved;
  for (const Memory& memory : kMemories) {
    const std::optional<Roof> roof = reader.roof(memory);
    if (!roof) continue;
    result.roofs.push_back(*roof);
    if (const auto a_second = reader.get(memory.moved); a_second && *a_second > 0) moved.emplace_back(*roof, *a_second * memory.bytes);
  }
  // Compilers move constants with multiply-adds of half precision. A few operations of one precision beside many of another are no arithmetic.
  constexpr double kLeastShare = 0.01;
  double most = 0;
  for (const Precision& precision : kPrecisions) most = std::max(most, reader.operations(precision).value_or(0));
  for (const Precision& precision : kPrecisions) {
    const std::optional<Ceiling> ceiling = reader.ceiling(precision);
    if (!ceiling) continue;
    result.ceilings.push_back(*ceiling);
    const std::optional<double> operations = reader.operations(precision);
    if (!operations || *operations <= 0 || *operations < kLeastShare * most) continue;
    for (const auto& [roof, bytes] : moved) result.points.push_back({*ceiling, roof, *operations, bytes});
  }
  for (const TensorPrecision& precision : kTensorPrecisions) {
    const std::optional<Ceiling> ceiling = reader.ceiling(precision);
    const std::optional<double> operations = reader.operations(precision);
    if (!ceiling || !operations) continue;
    result.ceilings.push_back(*ceiling);
    for (const auto& [roof, bytes] : moved) result.points.push_back({*ceiling, roof, *operations, bytes});
  }
  return result;
}

std::vector<std::string> roofline_metrics() {
  std::vector<std::string> metrics{std::string(kClock)};
  for (const Precision& precision : kPrecisions) {
    metrics.push_back(peak_metric(precision));
    for (const auto& [operation, weight] : kOperations) metrics.push_back(executed_metric(precision, operation));
  }
  for (const TensorPrecision& precision : kTensorPrecisions)
    for (const char* a_cycle : {".sum.peak_sustained", ".sum.per_cycle_elapsed"}) metrics.push_back(std::string(precision.metric) + a_cycle);
  for (const Memory& memory : kMemories)
    for (const std::string_view metric : {memory.moved, memory.peak, memory.clock}) metrics.emplace_back(metric);
  return metrics;
}

}  // namespace lanescope::kernels
