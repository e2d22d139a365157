#include "options/report_options.h"

#include "checks.h"
#include "commands/commands.h"

namespace lanescope::cli {

namespace {

// What can be written beside a recording, which is a .trace already.
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

void make_reports(const std::filesystem::path& file, const ReportOptions& options) {
  for (const std::string& type : options.exports)
    if (type != "none")
      run_export(options.overwrite == Overwrite::kAllow ? Arguments{"-f", "-t", type, file.string()}
                                                        : Arguments{"-t", type, file.string()});
  if (options.print_statistics) run_stats({file.string()});
}

}  // namespace lanescope::cli
