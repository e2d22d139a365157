// Reads hardware counters of chosen kernel launches, or counts of their instructions, while the program runs.
//
// Each chosen launch is measured alone: launches of other threads wait, CUPTI counts one kernel, and the raw counts go to a file; the host computes values from
// them. Alternatively, everything that runs while an NVTX range is open is counted together (CounterReplay::kRange), from the first launch in the range to its
// end. Not measured, but named, are launches within the capture of a graph, graphs, and kernels that may wait for others (collectives, cooperative launches).
// If CUPTI refuses, the counting ends with one sentence to the user; the program goes on.
//
// Threads: any, unless stated otherwise.
#pragma once

#include <cstddef>
#include <span>

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

// True if the environment asks for counters.
[[nodiscard]] bool is_wanted() noexcept;

// Asks CUPTI to tell the subscriber of launches and of captures of graphs. Once; `function_of_cupti` is any of its functions.
void begin(const void* function_of_cupti, CUpti_SubscriberHandle subscriber) noexcept;

// After begin(): true if CUPTI must not record activity. With records of kernels, all counts of instructions are 0, and with other records there are none. In
// ranges, the instructions that these records add to kernels would be counted (CUDA 13.0, H200).
[[nodiscard]] bool excludes_activity() noexcept;

// For the subscriber's callback, for code that the driver loaded (cubin).
void follow_module(std::span<const std::byte> image) noexcept;
// For the subscriber's callback, for calls of the driver.
void follow_call(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;
// Some contexts are about to end, but it is not known which: the profilers of all are released.
void forget_contexts() noexcept;
// In a forked child.
void forget_all() noexcept;

// CUPTI's record of a measured kernel has no times. Returns true if the record was of one, and was taken. Called by the thread that reads records.
bool take_record(const CUpti_ActivityKernel10& record) noexcept;

// Tells the user if measuring a launch takes too long. Called at intervals.
void watch() noexcept;

}  // namespace lanescope::agent::kernel_counters
