// What is made of a file once its capture is over: reports, and copies in other formats.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
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

// Writes the copies beside the file, and prints the reports. What fails is said.
void make_reports(const std::filesystem::path& file, const ReportOptions& options);

}  // namespace lanescope::cli
