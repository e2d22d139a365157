// How to record, as the user asked for it: options of `lanescope profile`. Internal to model/trace.
#pragma once

#include <string>
#include <string_view>

#include "lanescope/trace.pb.h"

namespace lanescope {

// "--preset=light --cpuctxsw=process-tree --sample=none": the threads that are observed, and the settings of CUDA that differ from the defaults. -t is
// not included: the settings do not contain some of its kinds, and have others only as NVTX. SessionStart.options has it. `known`: those options; --kernels is
// not repeated if it is there, with more than the settings contain.
[[nodiscard]] std::string capture_options(const proto::CaptureSettings& settings, std::string_view known = {});

}  // namespace lanescope
