// Names of trace files: patterns, the default, and free numbers.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/file/result.h"

namespace lanescope::session {

inline constexpr std::string_view kTraceExtension = ".trace";
inline constexpr std::string_view kDefaultOutputPattern = "report%n";

// What a name may depend on. The functions are called only if a pattern needs them.
struct OutputNameFacts {
  pid_t pid = 0;  // of the launched process
  std::string host_name;
  std::function<std::optional<std::string>(const std::string& name)> variable;  // of the environment
  std::function<bool(const std::filesystem::path& path)> exists;
};

// Expands %p (pid), %h (host name), %q{NAME} (environment variable), %n (the smallest number from 1 for which no such file exists) and %%. ".trace" is added
// if it is missing, and replaces nsys's ".nsys-rep" and ".qdrep". An empty pattern is the default one. Fails with one sentence for any other use of %, and
// for a variable that is not set.
Result<std::filesystem::path> expand_output_name(std::string_view pattern, const OutputNameFacts& facts);

}  // namespace lanescope::session
