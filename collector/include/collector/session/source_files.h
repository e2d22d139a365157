// Texts of source files that go into a recording, together with the GPU code that was compiled from them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// Who must be able to read the files that are taken. If the recording's program names them and runs as another user, that user must be able to read them,
// too.
enum class SourceRights { kOurs, kEverybodys };

struct StoredSources {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::pair<std::string, std::string>> left_out;  // path, and why: the end of a sentence
  bool is_owners_now = false;                                 // others could read the recording, but not all of these files: now they can read neither
};

// Appends frames with the current texts of these files to the finished recording. A program tells in its code which files these are, and may lie. Therefore
// only regular files are taken whose names end as sources do and that hold text, at most 4 MiB each and 32 MiB in total. Fails with one sentence.
Result<StoredSources> append_sources(const std::filesystem::path& recording, const std::vector<std::string>& paths, SourceRights rights,
                                     const std::optional<FileIdentity>& meant = {});

}  // namespace lanescope::session
