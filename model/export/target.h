// Where an export is written. Internal to model/export.
#pragma once

#include <filesystem>
#include <type_traits>
#include <utility>

#include "model/file/new_file.h"

namespace lanescope::exporters {

// The result of write(file), which fills a new file beside `path` that takes its place once it is whole. Where that fails, nothing is left
// of it, and what was at `path` stays.
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
