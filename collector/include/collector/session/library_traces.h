// Libraries whose calls are marked with NVTX. NCCL always marks its own calls; other libraries of NVIDIA's do so if their environment variables ask for it.
// Calls of MPI are marked by a library of ours in front of it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/session/recording.h"

namespace lanescope::session {

// The names of these libraries for --trace: nccl, cublas, cudnn, ... Those that have to be switched on can be recorded only in programs that we start.
[[nodiscard]] std::vector<std::string> library_traces();
[[nodiscard]] bool needs_launch(std::string_view trace);

// Adds the calls of the listed libraries to what is recorded: their NVTX domains, unless all domains are recorded, and nothing else of NVTX if NVTX is not
// recorded; and CUDA for the libraries that have to be switched on.
void add_library_traces(std::span<const std::string> traces, CaptureSettings& settings);

// The variables for the listed libraries, except those that our environment sets already.
[[nodiscard]] std::vector<EnvironmentChange> library_variables(std::span<const std::string> traces);

// What in the agent's path keeps it from being loaded before a program's other libraries, for example "a blank". OS runtime calls, Python's lock, MPI, UCX
// and OpenGL need it to be loaded first. Empty if nothing does.
[[nodiscard]] std::optional<std::string> preload_obstacle(const std::filesystem::path& agent);

}  // namespace lanescope::session
