// Executions of XLA's modules (JAX, TensorFlow), identified by the NVTX ranges that XLA marks in the domain TSL.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/analysis/families.h"
#include "model/events/launch_index.h"
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

// The time on GPUs of the work that executions of these processes launch, outside of compilation, by lane and family of the executions. Executions
// return when their work is enqueued, so their own time says little. O(CUDA calls, and GPU work of the processes).
[[nodiscard]] std::map<std::pair<LaneId, FamilyId>, Nanoseconds> gpu_time_of_xla_executions(const Trace& trace, Families& families,
                                                                                            const XlaCompilation& compilation,
                                                                                            const std::set<ProcessId>& processes, const LaunchIndex& launches);

}  // namespace lanescope::analysis
