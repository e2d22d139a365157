// lanescope kernels: what bounds kernels that Nsight Compute profiled, and what to do.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <numeric>

#include "../checks.h"
#include "../output_file.h"
#include "../table_output.h"
#include "../text.h"
#include "commands.h"
#include "model/import/ncu_csv.h"
#include "model/kernels/occupancy.h"
#include "model/kernels/sections.h"
#include "model/stats/table.h"

namespace lanescope::cli {
namespace {

using kernels::KernelMetrics;
using kernels::ProfiledKernel;

// The kernels, the longest first, by their numbers in the file.
std::vector<std::size_t> by_duration(const KernelMetrics& metrics) {
  std::vector<std::size_t> order(metrics.kernels().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kernels::duration(metrics, metrics.kernels()[a]) > kernels::duration(metrics, metrics.kernels()[b]);
  });
  return order;
}

stats::Table verdict_table(const KernelMetrics& metrics) {
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Duration", stats::Unit::kNanoseconds),
                      stats::integers("ID", stats::Unit::kIdentifier), stats::texts("Bound by"), stats::reals("Utilization", stats::Unit::kPercent),
                      stats::texts("Rule"), stats::reals("Gain", stats::Unit::kPercent), stats::texts("Kernel"), stats::texts("Seen"),
                      stats::texts("What to do")});
  struct Row {
    Nanoseconds winnable, duration;
    std::size_t kernel;
    kernels::Verdict verdict;
    const kernels::Advice* advice;
  };
  std::vector<Row> rows;
  std::vector<kernels::Verdict> verdicts;
  for (const ProfiledKernel& kernel : metrics.kernels()) verdicts.push_back(kernels::judge(metrics, kernel));
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Nanoseconds duration = kernels::duration(metrics, metrics.kernels()[i]);
    if (verdicts[i].advice.empty()) rows.push_back({0, duration, i, verdicts[i], nullptr});
    for (const kernels::Advice& advice : verdicts[i].advice)
      rows.push_back({static_cast<Nanoseconds>(advice.gain * static_cast<double>(duration)), duration, i, verdicts[i], &advice});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.winnable > b.winnable; });
  for (const Row& row : rows)
    table.add_row(row.winnable, row.duration, static_cast<std::int64_t>(row.kernel), table.add_text(std::string(kernels::bound_name(row.verdict.bound))),
                  row.verdict.utilization, table.add_text(row.advice ? std::string(row.advice->rule) : std::string()),
                  row.advice ? 100 * row.advice->gain : 0.0, table.add_text(metrics.kernels()[row.kernel].name),
                  table.add_text(row.advice ? row.advice->seen : std::string()), table.add_text(row.advice ? row.advice->what_to_do : std::string()));
  return table;
}

std::string value_text(const kernels::SectionRow& row) {
  char text[64];
  const auto print = [&text](double value, const char* unit) {
    std::snprintf(text, sizeof(text), "%.6g%s", value, unit);
    return std::string(text);
  };
  switch (row.unit) {
    case kernels::ValueUnit::kPercent:
      return print(row.value, " %");
    case kernels::ValueUnit::kNanoseconds:
      return print(row.value / 1000, " us");
    case kernels::ValueUnit::kBytes:
      return print(row.value, " B");
    case kernels::ValueUnit::kBytesPerSecond:
      return print(row.value / 1e9, " GB/s");
    case kernels::ValueUnit::kHertz:
      return print(row.value / 1e9, " GHz");
    case kernels::ValueUnit::kCycles:
      return print(row.value, " cycles");
    case kernels::ValueUnit::kNumber:
      break;
  }
  return print(row.value, "");
}

// Of one section, or of all where it is "all".
stats::Table section_table(const KernelMetrics& metrics, const std::string& section) {
  stats::Table table({stats::integers("ID", stats::Unit::kIdentifier), stats::texts("Kernel"), stats::texts("Section"), stats::texts("What"),
                      stats::texts("Value")});
  for (const std::size_t number : by_duration(metrics)) {
    const ProfiledKernel& kernel = metrics.kernels()[number];
    for (const kernels::Section& one : kernels::sections(metrics, kernel)) {
      if (section != "all" && one.name != section) continue;
      for (const kernels::SectionRow& row : one.rows)
        table.add_row(static_cast<std::int64_t>(number), table.add_text(kernel.name), table.add_text(std::string(one.name)),
                      table.add_text(std::string(row.label)), table.add_text(value_text(row)));
    }
  }
  return table;
}

std::string rounded(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

// For people: each kernel with what bounds it, and what would help.
void print_verdicts(const KernelMetrics& metrics) {
  for (const std::size_t number : by_duration(metrics)) {
    const ProfiledKernel& kernel = metrics.kernels()[number];
    const kernels::Verdict verdict = kernels::judge(metrics, kernel);
    const double microseconds = static_cast<double>(kernels::duration(metrics, kernel)) / 1000;
    std::cout << number << ". " << kernel.name << "\n   " << rounded("%.1f us", microseconds) << ", bound by " << kernels::bound_name(verdict.bound);
    if (verdict.utilization > 0) std::cout << rounded(" (%.1f %% of its peak)", verdict.utilization);
    std::cout << '\n';
    for (const kernels::Advice& advice : verdict.advice)
      std::cout << "   " << advice.rule << ": up to " << rounded("%.1f us", advice.gain * microseconds) << rounded(" (%.0f %%). ", 100 * advice.gain) << advice.seen
                << "\n      " << advice.what_to_do << '\n';
  }
}

}  // namespace

int run_kernels(Arguments arguments) {
  CLI::App app(
      "Says what bounds kernels that Nsight Compute profiled, the longest first, and what each could win at most.\n"
      "FILE is what this prints: ncu --csv --page raw --set full PROGRAM, or of a report: ncu --csv --page raw --import REPORT",
      "lanescope kernels");
  std::filesystem::path file;
  std::string section;
  TableOutput output;
  app.add_option("FILE", file, "CSV of Nsight Compute's page raw")->required();
  app.add_option("--section", section, "Print the values of a section instead, as Nsight Compute names it (SpeedOfLight, WarpStateStats, ...), or of all");
  output.add_options(app);
  app.footer(
      "Examples:\n"
      "  lanescope kernels kernels.csv                              what bounds each kernel, and what to do\n"
      "  lanescope kernels --section SpeedOfLight kernels.csv       values of one section\n"
      "  lanescope kernels -f csv -o - kernels.csv                  the same as a table, the largest gain first\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (const auto prepared = output.prepare(file); !prepared) return fail(prepared.error());
  keep_as_private_as(std::array<std::filesystem::path, 1>{file});
  const Result<KernelMetrics> metrics = read_ncu_csv(file);
  if (!metrics) return fail(metrics.error());
  if (section.empty() && output.is_for_people(0)) {
    print_verdicts(*metrics);
    return kSuccess;
  }
  const stats::Table table = section.empty() ? verdict_table(*metrics) : section_table(*metrics, section);
  if (table.empty()) return fail({"No section " + section + " has values in " + file.string() + ". All: --section all", ErrorKind::kUsage});
  const Result<void> written =
      output.write(0, section.empty() ? TableHeading{"Kernels and what they could win", "kernels", ""} : TableHeading{"Sections", "sections", ""}, table);
  return written ? kSuccess : fail(written.error());
}

}  // namespace lanescope::cli
