// lanescope report: one page about a trace, to be sent to a colleague.
#include <array>
#include <iostream>

#include "checks.h"
#include "commands.h"
#include "model/import/open_trace.h"
#include "model/trace/segments/demanded_segments.h"
#include "output/losses.h"
#include "output/output_file.h"
#include "report/page.h"
#include "text.h"

namespace lanescope::cli {

int run_report(Arguments arguments) {
  CLI::App app(
      "Writes one page about a trace: what it is, what costs time, with pictures of the places, and the usual tables.\n"
      "The page is one HTML file that any browser opens; it needs no network and runs no script.",
      "lanescope report");
  std::string input, output;
  bool force = false, quiet = false, timeline = false;
  report::PageOptions options;
  app.add_option("FILE", input, "A .trace file, or a trace of another tool")->required()->transform(trace_file());
  app.add_option("-o,--output", output, "File to write, or - for standard output [FILE with .html or .svg]")->type_name("FILE");
  app.add_flag("-f,--force-overwrite", force, "Overwrite the file if it exists");
  app.add_option("--findings", options.findings, "How many findings, the largest cost first [10]")->type_name("N")->check(whole_number(0, 1'000));
  app.add_option("--rows", options.table_rows, "How many rows of each table [12]")->type_name("N")->check(whole_number(0, 100'000));
  app.add_flag("--timeline", timeline, "The timeline alone, as a picture (SVG)");
  app.add_flag("-q,--quiet", quiet, "Say nothing where it succeeds");
  app.footer(
      "Examples:\n"
      "  lanescope report run.trace                     run.html\n"
      "  lanescope report --findings=3 -o - run.trace   to standard output\n"
      "  lanescope report --timeline run.trace          run.svg, a picture of the whole timeline\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (output.empty()) output = without_trace_extension(input) + (timeline ? ".svg" : ".html");
  keep_as_private_as(std::array<std::filesystem::path, 1>{input});
  const Overwrite overwrite = force ? Overwrite::kAllow : Overwrite::kRefuse;
  if (const auto checked = check_output(input, output, overwrite); !checked) return fail(checked.error());
  const auto trace = open_trace(input, {}, EventPlace::kInMemoryWhereTheyFit);
  if (!trace) return fail(trace.error());
  options.file = input;
  std::optional<Error> problem;
  const std::string picture = timeline ? report::timeline_svg(*trace) : std::string();
  if (timeline && picture.empty()) return fail({input + " has nothing that a timeline could show."});
  const auto written = write_text(output, overwrite, [&](const report::TextConsumer& write) {
    const Result<bool> page = timeline ? Result<bool>(write(picture)) : report::write_page(*trace, options, write);
    if (!page) problem = page.error();
    if (const auto read = check_all_was_read(**trace); !read) problem = read.error();
    return page && *page && !problem;
  });
  if (problem) return fail(*problem);
  if (!written) return fail(written.error());
  if (output != kStandardOutput && !quiet) std::cerr << "Generated:\n\t" << output << '\n';
  say_losses(**trace, input);
  return kSuccess;
}

}  // namespace lanescope::cli
