// Whether a library's file is whole: the loader maps what its headers say without asking how long the file is, and the process that loads
// one that was cut short dies of that.
#pragma once

#include <cstddef>

namespace lanescope::agent::cupti {

enum class FileState {
  kWhole,
  kAbsent,   // or not to be opened: the loader says so, too
  kDamaged,  // no library of this machine's kind, or its parts do not lie within it
};

// Reads headers alone: of the file, its segments, its sections and its dynamic table.
FileState check_library_file(const char* path) noexcept;

// The path of a library of this name, which has no slash, where the loader looks for it: in LD_LIBRARY_PATH, the system's folders and the
// loader's cache. Of the first one that is whole, else of one that is damaged.
FileState find_library_file(const char* name, char* path, std::size_t path_bytes) noexcept;

}  // namespace lanescope::agent::cupti
