// Programs that wait for a recording: started with the agent inside and dormant, to be attached to at any time with nothing lost.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::session {

// Becomes the program: this process ends, and the program goes on under its id, with the agent in it once it uses NVTX or CUDA. The
// programs that it starts are armed as well. Returns only when that fails, with one sentence.
Error become_armed(const std::vector<std::string>& command, const std::filesystem::path& agent);

}  // namespace lanescope::session
