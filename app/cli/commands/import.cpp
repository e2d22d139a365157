// lanescope import: saves any trace file that can be read as a .trace file.
#include <array>
#include <filesystem>
#include <iostream>

#include "commands.h"
#include "model/export/trace_file_export.h"
#include "model/import/open_trace.h"
#include "output/losses.h"
#include "output/output_file.h"
#include "text.h"

namespace lanescope::cli {

int run_import(Arguments arguments) {
  CLI::App app(
      "Reads a trace of another tool (Nsight Systems' SQLite, Chrome JSON as PyTorch's profiler writes it, CSV of Nsight Compute's page raw)\nand saves it as "
      ".trace.",
      "lanescope import");
  std::string input;
  std::string output;
  bool force = false;
  app.add_option("FILE", input, "The file to read")->required();
  app.add_option("-o,--output", output, "File to write, .trace is added; or - for standard output [FILE with .trace]")->type_name("FILE");
  app.add_flag("-f,--force-overwrite", force, "Overwrite the file if it exists");
  app.footer(
      "Examples:\n"
      "  lanescope import report1.sqlite                   report1.trace, from: nsys export -t sqlite report1.nsys-rep\n"
      "  lanescope import -o step.trace trace.json.gz      from torch.profiler's export_chrome_trace()\n"
      "  lanescope import kernels.csv                      from: ncu --import REPORT --csv --page raw > kernels.csv\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;

  if (output.empty()) output = without_trace_extension(input) + ".trace";
  // The file is named as by lanescope profile.
  std::error_code missing;
  const auto kind = std::filesystem::status(output, missing).type();
  const bool is_to_be_made = kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  if (output != kStandardOutput && is_to_be_made && !output.ends_with(".trace")) output += ".trace";
  const Overwrite overwrite = force ? Overwrite::kAllow : Overwrite::kRefuse;
  if (const auto free = check_output(input, output, overwrite); !free) return fail(free.error());
  keep_as_private_as(std::array<std::filesystem::path, 1>{input});
  const auto trace = open_trace(input);
  if (!trace) return fail(trace.error());
  const auto written =
      write_file(output, overwrite, ".trace", [&](const std::filesystem::path& path, Overwrite allowed) { return export_trace_file(**trace, path, allowed); });
  if (!written) return fail(written.error());
  if (output != kStandardOutput) std::cerr << "Generated:\n\t" << output << '\n';
  std::cerr << counted((*trace)->event_count(), "event") << " of " << input << '\n';
  say_losses(**trace, input);
  return kSuccess;
}

}  // namespace lanescope::cli
