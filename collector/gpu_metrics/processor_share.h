// How threads of the sampler share processors with the programs that are recorded.
//
// Programs that compute on every processor wait for each other's threads: whoever takes a processor for a moment delays all of them. So what
// can wait runs on what they leave (SCHED_IDLE), and is made usual again when somebody waits for it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace lanescope::gpu_metrics {

enum class ProcessorShare {
  kUsual,
  kLeftOver,  // runs where no usual thread wants the processor; a machine that is never idle gives it some thousandths of one
  kUrgent,    // before usual threads where the system permits that, else as one of them
};

// Of a thread of this process. False where the system refuses, and the thread's share stays what it was. Any thread.
bool set_share(pid_t thread, ProcessorShare share) noexcept;

// Whether a thread that runs on what is left over can be made usual again. Takes CAP_SYS_NICE, or a limit on niceness (RLIMIT_NICE).
[[nodiscard]] bool can_return_from_left_over();

// Whether nobody else wants the processor of the calling thread, which takes what others leave: it uses one for half a millisecond, and looks how
// long that took.
[[nodiscard]] bool is_left_alone() noexcept;

// ns that the calling thread has had a processor.
[[nodiscard]] std::int64_t processor_time() noexcept;

[[nodiscard]] pid_t this_thread() noexcept;

}  // namespace lanescope::gpu_metrics
