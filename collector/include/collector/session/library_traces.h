// Libraries whose calls are marked with NVTX: by themselves, NCCL always, others of NVIDIA's when their environment variables say so; or,
// MPI, by a library of ours in front of them.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/session/recording.h"

namespace lanescope::session {

// What --trace calls them: nccl, cublas, cudnn, ...; those that have to be switched on can be recorded in programs alone that we start.
[[nodiscard]] std::vector<std::string> library_traces();
[[nodiscard]] bool needs_launch(std::string_view trace);

// Adds calls of those that are listed to what is recorded: their NVTX domains where not all are, with nothing else of NVTX where that is
// not recorded, and CUDA below those that have to be switched on.
void add_library_traces(std::span<const std::string> traces, CaptureSettings& settings);

// The variables for those that are listed, but for what our environment says already.
[[nodiscard]] std::vector<EnvironmentChange> library_variables(std::span<const std::string> traces);

// What in the agent's path keeps it from being loaded before a program's other libraries, as OS runtime calls, Python's lock, MPI, UCX and
// OpenGL need it: "a blank". None where nothing does.
[[nodiscard]] std::optional<std::string> preload_obstacle(const std::filesystem::path& agent);

}  // namespace lanescope::session
