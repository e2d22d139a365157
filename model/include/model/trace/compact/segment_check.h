// Checks whether the frames of a compacted file are sound, without decoding them.
#pragma once

#include <filesystem>
#include <string>

namespace lanescope {

// What a user should know of damaged frames of any kind: one sentence, as in FileCondition; empty if all are sound, or if the file is not compacted.
// Reads the whole file: O(bytes), in the memory of one frame.
[[nodiscard]] std::string damaged_segments(const std::filesystem::path& path);

}  // namespace lanescope
