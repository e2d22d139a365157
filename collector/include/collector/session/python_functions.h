// The file that names the Python functions that are marked with NVTX (LaunchRequest::python_functions).
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::session {

// The absolute path of the file. Fails with one sentence, of kind kUsage, if it can't be read or is not a list of modules with their functions
// (docs/user-guide.md).
Result<std::filesystem::path> python_functions(const std::string& file);

// The name of the program's own file as a module.
inline constexpr std::string_view kProgramItself = "__main__";

// The modules that a file names which the function above accepts, each once; none if it can't be read any more.
[[nodiscard]] std::vector<std::string> modules_of(const std::filesystem::path& file);

// Why Python, started with this command, does not load what marks its functions: the option, as "-I"; nothing if it does, or if the command is no Python's.
[[nodiscard]] std::optional<std::string> option_against_marks(std::span<const std::string> command);

}  // namespace lanescope::session
