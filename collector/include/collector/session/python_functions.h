// The file that names functions of Python which are marked with NVTX (LaunchRequest::python_functions).
#pragma once

#include <filesystem>
#include <string>

#include "model/file/result.h"

namespace lanescope::session {

// Its absolute path. Fails with one sentence, of kind kUsage, where it can't be read or has another form than a list of modules with their
// functions (docs/user-guide.md).
Result<std::filesystem::path> python_functions(const std::string& file);

}  // namespace lanescope::session
