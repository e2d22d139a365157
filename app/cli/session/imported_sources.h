// --import-source: puts the sources of the GPU code that was sampled or counted into the recording.
#pragma once

#include <filesystem>
#include <optional>

#include "collector/session/source_files.h"
#include "model/file/result.h"

namespace lanescope::cli {

// Puts them into the finished recording, and says on standard error how many there are and which are missing. Fails with one sentence. `meant`: the recording
// to add to; it fails if another recording has its name by now. Without it, any file of that name is taken.
Result<void> import_sources(const std::filesystem::path& recording, session::SourceRights rights, const std::optional<FileIdentity>& meant);

}  // namespace lanescope::cli
