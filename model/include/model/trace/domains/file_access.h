// What a program did with files, if its recording has it (--osrt-file-access): ranges of an NVTX domain of this name, whose names are the paths of the
// files. Their category says what was done. For reads, writes and mappings the payload is the number of bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

inline constexpr std::string_view kFileAccessDomain = "File access";
enum class FileOperation : std::uint32_t { kOpen = 1, kRead = 2, kWrite = 3, kMap = 4, kSync = 5 };  // categories

}  // namespace lanescope
