// Places that are written directly and never replaced: pipes and devices.
//
// Links are treated as by NewFile: a link of this user is followed, a link of somebody else is refused; links of root are followed, too. A pipe must also
// belong to this user or root, because its creator may read it. Names for open files of a process (/dev/stdout, /dev/fd/N, /proc/self/fd/N) give that file,
// whoever created it. The place that is opened is the place that was checked, because a place in a folder of others may change meanwhile.
#pragma once

#include <filesystem>
#include <optional>

#include "model/file/result.h"

namespace lanescope {

// A descriptor for writing, which the caller owns. Returns nothing if the place is neither a pipe nor a device, but a file, a folder or absent. Waits up to 2
// s for a reader of a pipe. Fails with one sentence.
Result<std::optional<int>> open_written_in_place(const std::filesystem::path& path);

}  // namespace lanescope
