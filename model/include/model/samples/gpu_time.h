// Where the time of GPUs came from, as a call tree whose innermost calls are what GPUs ran.
//
// From the outermost in: the thread that launched the work; the call chain of the launch where the recording has it, else the NVTX ranges
// around it; the kernel, copy, set or graph. A kernel of which warps were sampled goes on with lines of its source and the states of warps
// there, which divide its time as its samples lie. That is an estimate: samples know their kernel, but not its launch, so that all launches
// of a kernel are divided alike, by all samples of it.
#pragma once

#include <stop_token>

#include "model/samples/call_tree.h"

namespace lanescope::samples {

// Weights are operations and their time on GPUs; time of operations that ran side by side counts for each. Lines and states of warps have a
// time alone, and only where a kernel has at least a thousandth of all time; lines of less than a ten-thousandth count together. Selects operations that
// overlap the window, launched by the threads; work whose launch was not recorded belongs to no thread. When asked to stop, it ends early. O(operations · depth
// + CUDA calls + samples of warps).
[[nodiscard]] CallTree gpu_time_tree(const Trace& trace, const SampleSelection& selection, CallTreeOrder order, CallChoice choice = CallChoice::kAll,
                                     const std::stop_token& stop = {});

}  // namespace lanescope::samples
