#include "options/report_options.h"

#include <iostream>

#include "checks.h"
#include "collector/session/planned_file.h"
#include "commands/commands.h"
#include "memory_budget.h"
#include "model/file/trace_file.h"

namespace lanescope::cli {

namespace {

// The formats that can be written besides the recording, which is a .trace already.
std::vector<std::string> copies() {
  std::vector<std::string> types = export_types();
  std::erase(types, "trace");
  types.insert(types.begin(), "none");
  return types;
}

}  // namespace

void describe_reports(CLI::App& app, ReportOptions& options) {
  constexpr const char* kGroup = "Output";
  app.add_option("--export", options.exports, "Also write it as: sqlite, chrome, json, csv, text, parquet, parquetdir, arrow")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(copies()))
      ->group(kGroup);
  app.add_flag("--stats", options.print_statistics, "Print the default reports of `lanescope stats` at the end [false]")->group(kGroup);
}

Result<void> check_exports(const std::string& output, const ReportOptions& options) {
  const bool has_own_name = !output.empty() && output.find("%n") == std::string::npos;  // with a number, the user did not choose the name of an existing file
  const auto file = session::planned_file(output);
  if (!has_own_name || !file || !*file || options.overwrite == Overwrite::kAllow) return {};  // an invalid name is reported when the file is made
  for (const std::string& type : options.exports) {
    if (type == "none") continue;
    const std::filesystem::path copy = export_place((**file).string(), type);
    std::error_code missing;
    if (std::filesystem::is_regular_file(copy, missing) || std::filesystem::is_directory(copy, missing))  // pipes and devices are written to
      return Error{copy.string() + " exists already, where --export=" + type + " writes. Give another name with -o, or allow overwriting with -f."};
  }
  return {};
}

namespace {

bool has_memory_for(const std::filesystem::path& file) {
  const Result<TraceFileReader> reader = TraceFileReader::open(file);
  return !reader || fit_into_memory(reader->indexed_events());
}

}  // namespace

Reports make_reports(const std::filesystem::path& file, const ReportOptions& options, const std::optional<FileIdentity>& meant,
                     const std::function<void(const std::string& what)>& made) {
  Reports reports = Reports::kMade;
  const bool is_anything_asked = options.print_statistics || !options.exports.empty();
  if (is_anything_asked && !has_memory_for(file)) {
    std::cerr << "lanescope: There is not enough memory to make what was asked to be made of " << file.string()
              << ". Make it elsewhere, with lanescope export and lanescope stats.\n";
    return Reports::kLacking;
  }
  const auto was_replaced = [&] { return meant && identity_of(file) != meant; };
  for (const std::string& type : options.exports) {
    if (type == "none" || was_replaced()) continue;
    const int code = run_export(options.overwrite == Overwrite::kAllow ? Arguments{"-f", "-t", type, file.string()} : Arguments{"-t", type, file.string()});
    if (code != kSuccess) reports = Reports::kLacking;
    if (made) made(type);
  }
  if (options.print_statistics && !was_replaced()) {
    if (run_stats({file.string()}) != kSuccess) reports = Reports::kLacking;
    if (made) made(kStatisticsMade);
  }
  if (!is_anything_asked || !was_replaced()) return reports;
  std::cerr << "lanescope: " << file.string()
            << " was replaced by another recording meanwhile: what was asked to be made of this one is not there, or is of the other one.\n";
  return Reports::kLacking;
}

}  // namespace lanescope::cli
