// Texts of source files that go into a recording with the GPU code that is of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// Of whom the files that are taken must be readable: where the recording's program names them and runs as another user, by that one too.
enum class SourceRights { kOurs, kEverybodys };

struct StoredSources {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::pair<std::string, std::string>> left_out;  // path, and why: the end of a sentence
  bool is_owners_now = false;                                 // others could read the recording, and not all of these files: now they can read neither
};

// Appends frames with the texts of these files, as they are now, to the finished recording. A program says by its code which files those are, and may lie:
// taken are regular files alone whose names end as sources do and that hold text, 4 MiB each and 32 MiB in all at most. Fails with one sentence.
Result<StoredSources> append_sources(const std::filesystem::path& recording, const std::vector<std::string>& paths, SourceRights rights,
                                     const std::optional<FileIdentity>& meant = {});

}  // namespace lanescope::session
