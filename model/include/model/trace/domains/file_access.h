// What a program did with files, where its recording says so (--osrt-file-access): ranges of an NVTX domain of this name, which are called by the file's
// path. Their category says what was done; of reads, writes and mappings, the payload is the bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

inline constexpr std::string_view kFileAccessDomain = "File access";
enum class FileOperation : std::uint32_t { kOpen = 1, kRead = 2, kWrite = 3, kMap = 4, kSync = 5 };  // categories

}  // namespace lanescope
