// What is made of a file after its capture: reports, and copies in other formats.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/file/trace_file.h"

namespace lanescope::cli {

// As typed.
struct ReportOptions {
  std::vector<std::string> exports;
  bool print_statistics = false;
  Overwrite overwrite = Overwrite::kRefuse;  // of exported files, as of the file itself
};

void describe_reports(CLI::App& app, ReportOptions& options);

enum class Reports { kMade, kLacking };

// Checks that the copies of a recording of one file with this output name can be written, as far as its name is known before it starts (without %n and %p).
// Fails with one sentence if a file exists that may not be replaced.
[[nodiscard]] Result<void> check_exports(const std::string& output, const ReportOptions& options);

inline constexpr const char* kStatisticsMade = "statistics";

// Writes the copies beside the file, and prints the reports. Failures are said. `meant`: the recording to make them of. If another recording has its name by
// now, this is said, nothing more is made, and the result is kLacking. Without it, any file of that name is taken. `made`: called with each type of
// options.exports, and with kStatisticsMade, once it is made, or once it is said why not; may be empty.
[[nodiscard]] Reports make_reports(const std::filesystem::path& file, const ReportOptions& options, const std::optional<FileIdentity>& meant = {},
                                   const std::function<void(const std::string& what)>& made = {});

}  // namespace lanescope::cli
