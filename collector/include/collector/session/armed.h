// Programs that wait for a recording. They are started with the agent inside, dormant, so that they can be attached to at any time without a loss.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::session {

// Becomes the program: this process ends, and the program runs under its process id. It has the agent in it once it uses NVTX or CUDA. The programs that it
// starts are armed as well. Returns only on failure, with one sentence.
Error become_armed(const std::vector<std::string>& command, const std::filesystem::path& agent);

}  // namespace lanescope::session
