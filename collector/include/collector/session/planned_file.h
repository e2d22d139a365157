// The file that a recording would go to, for callers that ask before it starts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/file/result.h"

namespace lanescope::session {

// The file that a recording with this output name (LaunchRequest::output) would make now, absolute. Nothing if the name depends on the process (%p). Fails
// with one sentence for a pattern that is not understood. Another process may make the file meanwhile.
Result<std::optional<std::filesystem::path>> planned_file(const std::string& pattern);

}  // namespace lanescope::session
