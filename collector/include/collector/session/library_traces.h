// Libraries whose calls are marked with NVTX: by themselves, NCCL always, others of NVIDIA's when their environment variables say so; or,
// MPI, by a library of ours in front of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/session/recording.h"

namespace lanescope::session {

// What --trace calls them: nccl, cublas, cudnn, ...; those that have to be switched on can be recorded in programs alone that we start.
[[nodiscard]] std::vector<std::string> library_traces();
[[nodiscard]] bool needs_launch(std::string_view trace);
[[nodiscard]] bool implies_cuda(std::string_view trace);

// NVTX domains of those that are listed.
[[nodiscard]] std::vector<std::string> library_domains(std::span<const std::string> traces);

// The variables for those that are listed, but for what our environment says already.
[[nodiscard]] std::vector<EnvironmentChange> library_variables(std::span<const std::string> traces);

}  // namespace lanescope::session
