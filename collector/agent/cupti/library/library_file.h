// Tells if a library's file is whole. The loader maps what the file's headers say without checking its length, and a process that loads a file that was cut
// short dies of that.
#pragma once

#include <cstddef>

namespace lanescope::agent::cupti {

enum class FileState {
  kWhole,
  kAbsent,   // or can't be opened: the loader reports that, too
  kDamaged,  // not a library for this kind of machine, or its parts do not lie within the file
};

// Reads only headers: of the file, its segments, its sections and its dynamic table.
FileState check_library_file(const char* path) noexcept;

// The path of a library of this name (without a slash) where the loader looks for it: in LD_LIBRARY_PATH, the system's folders and the loader's cache. The
// first whole file, otherwise a damaged one.
FileState find_library_file(const char* name, char* path, std::size_t path_bytes) noexcept;

}  // namespace lanescope::agent::cupti
