// Where an export may be written. Internal to model/export.
#pragma once

#include <filesystem>
#include <type_traits>
#include <utility>

#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::exporters {

// Fails where something is there that is no file, or a file that may not be overwritten.
inline Result<void> check_target(const std::filesystem::path& path, Overwrite overwrite) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  if (!std::filesystem::is_regular_file(path, ignored)) return Error{path.string() + " is not a file: give another name with -o."};
  if (overwrite == Overwrite::kAllow) return {};
  return Error{path.string() + " exists already. Give another name with -o, or allow overwriting with -f."};
}

// The result of write(place), which makes a file at a place beside `path` that is moved there once it is whole. Where that fails, nothing
// is left of it, and what was at `path` stays.
template <typename Write>
std::invoke_result_t<Write, const std::filesystem::path&> write_beside(const std::filesystem::path& path, Overwrite overwrite,
                                                                       Write write) {
  if (const auto free = check_target(path, overwrite); !free) return free.error();
  const std::filesystem::path place = path.string() + ".partial";
  auto written = write(place);
  std::error_code failure;
  if (written) std::filesystem::rename(place, path, failure);
  if (failure) written = Error{path.string() + " can't be written: " + failure.message() + "."};
  std::error_code ignored;
  if (!written) std::filesystem::remove(place, ignored);
  return written;
}

}  // namespace lanescope::exporters
