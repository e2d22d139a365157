// lanescope stats: reports over a trace.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include "checks.h"
#include "commands.h"
#include "model/stats/report.h"
#include "model/trace/segments/demanded_counters.h"
#include "options/filter_options.h"
#include "options/foreign_options.h"
#include "output/losses.h"
#include "output/table_output.h"

namespace lanescope::cli {
namespace {

constexpr const char* kStatsFooter =
    "Examples:\n"
    "  lanescope stats run.trace                                          the default reports\n"
    "  lanescope stats -r cuda_gpu_kern_sum:base:rows=10 run.trace        the ten kernels that take most time, by short names\n"
    "  lanescope stats -r cuda_gpu_sum --filter-nvtx 'step 7' run.trace   one iteration\n"
    "  lanescope stats -r cuda_gpu_trace -f csv -o gpu run.trace          into gpu_cuda_gpu_trace.csv\n";

// Reports of nsys that do not exist here, by the starts of their names. Some are default reports, so that scripts name them.
struct ForeignReport {
  std::string_view begin;
  const char* advice;
};
constexpr const char* kAmongRanges = "Calls are marked with NVTX: see nvtx_sum";
constexpr const char* kNoGraphics = "Of graphics, OpenGL is recorded, marked with NVTX: see nvtx_sum";
constexpr std::array kForeignReports{
    ForeignReport{"openmp", kAmongRanges},
    ForeignReport{"openacc", kAmongRanges},
    ForeignReport{"syscall", "See osrt_sum and nvtx_sum"},
    ForeignReport{"opengl", kNoGraphics},
    ForeignReport{"khrdebug", kNoGraphics},
    ForeignReport{"vulkan", kNoGraphics},
    ForeignReport{"dx11", kNoGraphics},
    ForeignReport{"dx12", kNoGraphics},
    ForeignReport{"pixsum", kNoGraphics},
    ForeignReport{"wddm", "Windows is not recorded"},
    ForeignReport{"network_congestion", "See machine_metric_sum"},
    ForeignReport{"nvvideo", "NVIDIA's video engines are not recorded"},
};

// Why such a report is not printed; null if nsys has none of that name.
const char* advice_instead_of(const std::string& name) {
  if (stats::find_report(name.substr(0, name.find(':'))) != nullptr) return nullptr;
  const auto* const found = std::ranges::find_if(kForeignReports, [&](const ForeignReport& each) { return name.starts_with(each.begin); });
  return found != kForeignReports.end() ? found->advice : nullptr;
}

struct ReportAsked {
  std::string text;  // as asked: "cuda_gpu_kern_sum:base"
  stats::ReportRequest report;
};

Result<std::vector<ReportAsked>> parse_reports(std::vector<std::string> names, const stats::ReportOptions& options) {
  if (names.empty()) names.assign(stats::default_reports().begin(), stats::default_reports().end());
  std::vector<ReportAsked> requests;
  for (std::string& name : names) {
    if (advice_instead_of(name) != nullptr) continue;
    take_name_of_today(name);
    auto parsed = stats::parse_report(name, options);
    if (!parsed) {
      std::vector<std::string> known;
      for (const stats::Report& report : stats::reports()) known.emplace_back(report.name);
      const std::string suggestion = nearest(name.substr(0, name.find(':')), known);
      if (!stats::find_report(name.substr(0, name.find(':'))) && !suggestion.empty())
        return Error{"There is no report " + name + ". Did you mean " + suggestion + "?", ErrorKind::kUsage};
      return parsed.error();
    }
    requests.push_back({name, *parsed});
  }
  return requests;
}

bool is_of_counters(const ReportAsked& asked) { return asked.report.report->name.ends_with("_metric_sum"); }

// "A, B or C".
std::string any_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " or ";
    text += names[i];
  }
  return text;
}

std::string explained(const stats::Report& report) {
  std::string text(report.description);
  if (report.modifiers.find(":pN") != std::string_view::npos)
    text += " :pN adds the Nth percentile, as in :p95:p99, by linear interpolation between two values.";
  return text;
}

int print_reports(const std::string& name) {
  if (name.empty() || name == "ALL") {
    for (const stats::Report& report : stats::reports())
      std::cout << report.name << report.modifiers << "[:rows=N] - " << report.title << '\n' << (name == "ALL" ? "    " + explained(report) + "\n" : "");
    return kSuccess;
  }
  const stats::Report* report = stats::find_report(name);
  if (!report) return fail({"There is no report " + name + ". See: lanescope stats --help-reports", ErrorKind::kUsage});
  std::cout << report->name << report->modifiers << "[:rows=N] - " << report->title << "\n\n" << explained(*report) << '\n';
  return kSuccess;
}

// True for `-r ,`, after which the file would be taken for a report.
bool has_empty_list(const Arguments& arguments) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
    if ((arguments[i] == "-r" || arguments[i] == "--report") && arguments[i + 1].find_first_not_of(',') == std::string::npos) return true;
  return false;
}

}  // namespace

int run_stats(Arguments arguments) {
  CLI::App app("Answers questions about a trace with tables: where time goes on CPU and GPU, by function, kernel, copy and NVTX range.", "lanescope stats");
  std::string help_report;
  FilterOptions filter;
  std::vector<std::filesystem::path> files;
  std::vector<std::string> names;
  TableOutput output;
  app.add_option("FILE", files, "A .trace file, or a trace of another tool; several are read as one trace, such as those of all ranks")
      ->transform(trace_file());
  app.add_option("-r,--report", names, "Reports, with their modifiers: cuda_gpu_kern_sum:base (repeat, or separate by commas); without it, the usual ones")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  output.add_options(app);
  filter.add_options(app,
                     "Only what happened during this NVTX range, on all threads of its process, and the GPU work that was enqueued in it; of several "
                     "processes that have it, such as ranks, in each one's own. Of several ranges of this name, the first; INDEX counts from 0");
  auto* help_reports = app.add_option("--help-reports", help_report, "List the reports, or explain one (ALL: each)")->expected(0, 1)->type_name("[REPORT]");
  app.footer(kStatsFooter);
  const bool names_no_report = has_empty_list(arguments);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (help_reports->count() > 0) return print_reports(help_report);
  if (names_no_report) return fail({"-r names no report. Those that there are: lanescope stats --help-reports", ErrorKind::kUsage});
  if (files.empty()) return fail({"Name the trace file: lanescope stats FILE", ErrorKind::kUsage});

  const auto options = filter.parse();
  if (!options) return fail(options.error());
  const auto requests = parse_reports(names, *options);
  if (!requests) return fail(requests.error());
  for (const std::string& name : names)
    if (const char* const advice = advice_instead_of(name)) TableOutput::skip("There is no report " + name + ". " + advice + '.');
  if (const auto prepared = output.prepare(files); !prepared) return fail(prepared.error());
  const auto tables = requests->size() > 1 ? TableOutput::Tables::kSeveral : TableOutput::Tables::kOne;
  if (const auto fits = output.expect(tables); !fits) return fail(fits.error());
  const bool any_of_counters = std::any_of(requests->begin(), requests->end(), is_of_counters);
  auto trace = open_ranks(files, EventPlace::kInFile, any_of_counters ? CounterValues::kRead : CounterValues::kLeftOut);
  if (!trace) return fail(trace.error());
  output.set_source(*trace);
  filter.say_which_range(**trace, *options);

  std::optional<stats::ReportSeries> series(**trace);
  std::vector<std::string_view> missing;  // what the trace lacks for empty reports, each once
  for (std::size_t i = 0; i < requests->size(); ++i) {
    const auto& [text, request] = (*requests)[i];
    auto table = series->make(*request.report, request.options);
    if (has_unreadable_counters(**trace)) {
      auto again = open_again_in_memory(**trace, files);
      if (!again) return fail(again.error());
      output.replace_sources(*again);
      series.emplace(**again);
      table = series->make(*request.report, request.options);
      trace = std::move(again);
    }
    if (!table) return fail(table.error());
    if (table->empty()) {
      if (request.options.rows != 0 && std::ranges::find(missing, request.report->data) == missing.end()) missing.push_back(request.report->data);
      if (const auto done = output.leave_out(i, text); !done) return fail(done.error());
      if (!output.is_json_on_console(i)) continue;
    }
    if (const auto written = output.write(i, {std::string(request.report->title), text, ""}, *table); !written) return fail(written.error());
  }
  output.finish();
  const std::string_view where = filter.any() ? " in the chosen part." : (*trace)->provenance().part ? " in this part of its recording." : ".";
  if (!missing.empty()) TableOutput::skip(files.front().string() + " does not contain " + any_of(missing) + std::string(where));
  say_losses(**trace, name_of(files));
  return kSuccess;
}

}  // namespace lanescope::cli
