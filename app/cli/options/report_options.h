// What is made of a file once its capture is over: reports, and copies in other formats.
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
  Overwrite overwrite = Overwrite::kRefuse;  // of what is exported, as of the file itself
};

void describe_reports(CLI::App& app, ReportOptions& options);

enum class Reports { kMade, kLacking };

// Whether the copies of a recording of one file with this output name can be written, as far as its name is known before it begins (without %n and %p):
// fails with one sentence where one stands there that may not be replaced.
[[nodiscard]] Result<void> check_exports(const std::string& output, const ReportOptions& options);

inline constexpr const char* kStatisticsMade = "statistics";

// Writes the copies beside the file, and prints the reports. What fails is said. `meant`: the recording to make them of. Where another has
// its name by now, nothing more is made, that is said, and the result is kLacking. None: whatever has the name. `made`: called with each type of
// options.exports, and with kStatisticsMade, once that is made, or it is said why not; may be empty.
[[nodiscard]] Reports make_reports(const std::filesystem::path& file, const ReportOptions& options, const std::optional<FileIdentity>& meant = {},
                                   const std::function<void(const std::string& what)>& made = {});

}  // namespace lanescope::cli
