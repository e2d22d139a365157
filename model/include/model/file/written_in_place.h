// Places that are written to as they are, and never replaced: pipes and devices.
//
// Links are met as NewFile meets them: one of this user is followed, one of somebody else refused; root's are followed, too. What stands there must
// be this user's or root's as well where it is a pipe, whose maker may read it. Whoever names what a process has open (/dev/stdout, /dev/fd/N,
// /proc/self/fd/N) gets that, whoever made it. What is opened is what was looked at: a place in a folder of others may change meanwhile.
#pragma once

#include <filesystem>
#include <optional>

#include "model/file/result.h"

namespace lanescope {

// A descriptor to write to what is there, which is the caller's; nothing where there is neither a pipe nor a device, but a file, a folder or nothing.
// Waits 2 s for somebody who reads a pipe. Fails with one sentence.
Result<std::optional<int>> open_written_in_place(const std::filesystem::path& path);

}  // namespace lanescope
