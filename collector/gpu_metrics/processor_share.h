// How threads of the sampler share processors with the programs that are recorded.
//
// Programs that compute on every processor wait for each other's threads: a thread that takes a processor for a moment delays all of them. So work
// that can wait runs only when processors are idle (SCHED_IDLE). It gets a usual share again when somebody waits for it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace lanescope::gpu_metrics {

enum class ProcessorShare {
  kUsual,
  kLeftOver,  // runs when no usual thread wants the processor; on a machine that is never idle it gets some thousandths of a processor
  kUrgent,    // before usual threads if the system permits that, else like them
};

// Sets the share of a thread of this process. Returns false if the system refuses; the share is then unchanged. Any thread.
bool set_share(pid_t thread, ProcessorShare share) noexcept;

// True if a thread with kLeftOver can get a usual share again. This needs CAP_SYS_NICE, or a limit on niceness (RLIMIT_NICE).
[[nodiscard]] bool can_return_from_left_over();

// True if nobody else wants the processor of the calling thread, which has kLeftOver. It computes for half a millisecond and measures how long that
// took.
[[nodiscard]] bool is_left_alone() noexcept;

// Processor time of the calling thread, ns.
[[nodiscard]] std::int64_t processor_time() noexcept;

[[nodiscard]] pid_t this_thread() noexcept;

}  // namespace lanescope::gpu_metrics
