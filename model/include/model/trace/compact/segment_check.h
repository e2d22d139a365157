// Whether the frames of a compacted file are sound, without decoding them.
#pragma once

#include <filesystem>
#include <string>

namespace lanescope {

// What a user should know of frames that are damaged, of whatever kind: one sentence, as FileCondition has it; empty where all are sound, and where the file
// is not compacted. Reads the whole file: O(bytes), in the memory of one frame.
[[nodiscard]] std::string damaged_segments(const std::filesystem::path& path);

}  // namespace lanescope
