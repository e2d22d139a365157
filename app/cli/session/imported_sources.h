// --import-source: the sources of the GPU code that was sampled or counted, put into the recording.
#pragma once

#include <filesystem>
#include <optional>

#include "collector/session/source_files.h"
#include "model/file/result.h"

namespace lanescope::cli {

// Puts them into the finished recording, and says on standard error how many there are and which are not. Fails with one sentence.
// `meant`: the recording to add to; fails where another has its name by now. None: whatever has the name.
Result<void> import_sources(const std::filesystem::path& recording, session::SourceRights rights, const std::optional<FileIdentity>& meant);

}  // namespace lanescope::cli
