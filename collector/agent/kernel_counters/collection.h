// Hardware counters of chosen kernel launches, or counts of their instructions, read while the program runs.
//
// Each chosen launch is measured by itself: the other threads' launches wait, CUPTI counts one kernel, and what it counted goes to a file as
// it is; the host makes values of it. Or all that runs while a range of NVTX is open is counted together (CounterReplay::kRange), from the first launch in it
// to its end. A launch within the capture of a graph, a graph, and a kernel that may wait for others (collectives, cooperative launches) are left alone, and
// named. A refusal of CUPTI ends the counting in one sentence; the program goes on.
//
// Threads: any, where nothing else is said.
#pragma once

#include <cstddef>
#include <span>

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

// Whether the environment asks for counters.
[[nodiscard]] bool is_wanted() noexcept;

// Asks CUPTI to tell the subscriber of launches, and captures of graphs. Once; `function_of_cupti` is any.
void begin(const void* function_of_cupti, CUpti_SubscriberHandle subscriber) noexcept;

// Behind begin(): whether CUPTI is to record no activity. With records of kernels all counts of instructions are 0, and with others there are
// none; of ranges, what these records add to kernels would be counted (CUDA 13.0, H200).
[[nodiscard]] bool excludes_activity() noexcept;

// For the subscriber's callback, of code that the driver loaded (cubin).
void follow_module(std::span<const std::byte> image) noexcept;
// For the subscriber's callback, of calls of the driver.
void follow_call(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;
// Contexts are about to end, nobody knows which: the profilers of all are given back.
void forget_contexts() noexcept;
// In a forked child.
void forget_all() noexcept;

// CUPTI's record of a kernel that was measured has no times. Takes it, where it is of one. The thread that reads records.
bool take_record(const CUpti_ActivityKernel10& record) noexcept;

// Tells the user where a launch takes too long while it is measured. Called every so often.
void watch() noexcept;

}  // namespace lanescope::agent::kernel_counters
