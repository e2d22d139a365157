// The file that names the Python functions that are marked with NVTX (LaunchRequest::python_functions).
#pragma once

#include <filesystem>
#include <string>

#include "model/file/result.h"

namespace lanescope::session {

// The absolute path of the file. Fails with one sentence, of kind kUsage, if it can't be read or is not a list of modules with their functions
// (docs/user-guide.md).
Result<std::filesystem::path> python_functions(const std::string& file);

}  // namespace lanescope::session
