// Executions of XLA's modules (JAX, TensorFlow), identified by the NVTX ranges that XLA marks in the domain TSL.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/analysis/families.h"
#include "model/trace/storage/interval_union.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// True if XLA marks it: a pass of its compiler, an operation of a program, or a program that is executed.
[[nodiscard]] bool is_of_xla(std::string_view range) noexcept;
// True if it is the execution of a module: "XlaModule:#prefix=jit(step),hlo_module=jit_step,program_id=12#".
[[nodiscard]] bool is_xla_execution(std::string_view range) noexcept;

// The times at which processes compile. Executions of XLA at these times, on any thread, are candidate kernels that it measures (autotuning).
class XlaCompilation {
 public:
  explicit XlaCompilation(const Trace& trace);                                       // O(NVTX ranges)
  [[nodiscard]] bool is_under_way(ProcessId process, Nanoseconds t) const noexcept;  // O(log n)

 private:
  std::map<ProcessId, IntervalUnion> by_process_;
};

using LaneFamily = std::pair<LaneId, FamilyId>;

// The time on GPUs of the work that executions of these families in these lanes launch, outside of compilation. Executions return when their work is
// enqueued, so their own time says little. Of more than 1,000 executions, or of executions that make more than 65,536 calls, an even selection stands for
// all. O(events of the lanes + calls of the selection · log calls + GPU work of the segments that have work of these).
[[nodiscard]] std::map<LaneFamily, Nanoseconds> gpu_time_of_xla_executions(const Trace& trace, Families& families, const XlaCompilation& compilation,
                                                                           const std::set<LaneFamily>& wanted);

}  // namespace lanescope::analysis
