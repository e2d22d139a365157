// The origin of the time of GPUs, as a call tree whose innermost calls are the operations of GPUs.
//
// The order from the outside in is: the thread that launched the work; the call chain of the launch if it was recorded, else the NVTX ranges around it; the
// kernel, copy, set or graph. Below a kernel whose warps were sampled are lines of its source and the states of warps there; they divide its time in
// proportion to its samples. This is an estimate: samples know their kernel but not its launch, so all launches of a kernel are divided in the same way, by
// all its samples.
#pragma once

#include <stop_token>

#include "model/samples/call_tree.h"

namespace lanescope::samples {

// Weights are operations and their time on GPUs; the time of concurrent operations counts for each of them. Lines and states of warps have only a time, and
// only if the kernel has at least 1/1,000 of the total time; lines with less than 1/10,000 are combined. Selects operations that overlap the window and were
// launched by the threads; work whose launch was not recorded belongs to no thread. Ends early if `stop` is requested. O(operations · depth + CUDA calls +
// samples of warps).
[[nodiscard]] CallTree gpu_time_tree(const Trace& trace, const SampleSelection& selection, CallTreeOrder order, CallChoice choice = CallChoice::kAll,
                                     const std::stop_token& stop = {});

}  // namespace lanescope::samples
