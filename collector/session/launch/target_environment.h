// The environment in which a target starts: ours, the request's changes, and what loads the agent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/session/recording.h"

namespace lanescope::session {

struct TargetEnvironment {
  std::vector<std::string> variables;  // "NAME=value"
  CaptureSettings settings;            // what can be traced in it
  std::vector<std::string> lacks;      // one sentence for each thing that was asked for and can't be traced
  std::vector<std::string> warnings;   // other sentences for the user
};

// `ours`: "NAME=value" of this process; used if the request inherits it. `socket`: of the session's control socket.
//
// CUDA loads a single injection library. If the environment names another one already, that is left alone, and CUDA is not traced.
TargetEnvironment target_environment(const LaunchRequest& request, std::vector<std::string> ours, const std::filesystem::path& agent,
                                     const std::filesystem::path& socket);

// The value of channel::kFiltersVariable for programs that this process starts; nothing if the kernel does not count filters.
[[nodiscard]] std::optional<std::string> known_filters();

// The library that NVTX is to load in its first call: one beside the agent, which loads the agent. If it is missing, the agent.
[[nodiscard]] std::filesystem::path nvtx_tool(const std::filesystem::path& agent);

// A variable by which the agent comes into a program, and what it brings: "NVTX ranges".
struct AgentVariable {
  std::string_view name;
  std::string_view brings;
};
[[nodiscard]] std::vector<AgentVariable> agent_variables(const CaptureSettings& settings);
// True if the agent comes before the program's first instruction; else it comes with a first call.
[[nodiscard]] bool comes_with_program(const AgentVariable& variable);

// The environment with the request's changes, and without ours.
std::vector<std::string> plain_environment(const LaunchRequest& request, std::vector<std::string> ours);

}  // namespace lanescope::session
