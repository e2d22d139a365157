// Where an export may be written. Internal to model/export.
#pragma once

#include <filesystem>

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

}  // namespace lanescope::exporters
