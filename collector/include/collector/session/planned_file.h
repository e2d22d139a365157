// Where a recording would go, for who asks before it begins.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/file/result.h"

namespace lanescope::session {

// The file that a recording with this output name (LaunchRequest::output) would make now, absolute; none where the name depends on the
// process (%p). Fails with one sentence for a pattern that is not understood. Somebody else may make
// the file meanwhile.
Result<std::optional<std::filesystem::path>> planned_file(const std::string& pattern);

}  // namespace lanescope::session
