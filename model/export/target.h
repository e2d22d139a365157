// The destination of an export. Internal to model/export.
#pragma once

#include <filesystem>
#include <type_traits>
#include <utility>

#include "model/file/new_file.h"

namespace lanescope::exporters {

// Returns the result of write(file), which fills a new file beside `path`. The file takes its place when it is complete. After a failure nothing of it
// remains, and the file at `path` is unchanged.
template <typename Write>
std::invoke_result_t<Write, NewFile&> write_beside(const std::filesystem::path& path, Overwrite overwrite, Readers readers, Write write) {
  auto file = NewFile::create(path, overwrite, readers);
  if (!file) return file.error();
  auto written = write(*file);
  if (!written) return written;
  if (const auto placed = file->take_place(); !placed) return placed.error();
  return written;
}

}  // namespace lanescope::exporters
