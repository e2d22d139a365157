// lanescope diff: what changed from one trace to another.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "../table_output.h"
#include "../text.h"
#include "commands.h"
#include "model/analysis/trace_diff.h"
#include "model/import/open_trace.h"
#include "model/trace/percent.h"

namespace lanescope::cli {
namespace {

using analysis::DiffItem;
using analysis::DiffKind;
using analysis::DiffVerdict;
using analysis::TraceDiff;

bool is_change(const DiffItem& item) { return item.verdict != DiffVerdict::kSame; }
bool is_headline(const DiffItem& item) {
  return item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy || item.kind == DiffKind::kGpuIdle;
}

// "5%" or "5": percent.
Result<std::optional<double>> parse_percent(std::string text) {
  if (text.empty()) return std::optional<double>();
  const std::string given = text;
  if (text.back() == '%') text.pop_back();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0)
    return Error{"'" + given + "' is no share: give one such as --fail-above 5%.", ErrorKind::kUsage};
  return std::optional(value);
}

// Bounds that reach into the infinite are left empty, as unknown ones are.
double finite(double value) { return std::isfinite(value) ? value : stats::kNoReal; }

stats::Table table_of(const TraceDiff& diff, bool only_changes) {
  const std::string per = diff.by_iteration() ? "Per Iteration" : "Total";
  stats::Table table({stats::reals("Change", stats::Unit::kPercent), stats::reals("Low", stats::Unit::kPercent),
                      stats::reals("High", stats::Unit::kPercent), stats::texts("Verdict"),
                      stats::reals(per + " A", stats::Unit::kNanoseconds), stats::reals(per + " B", stats::Unit::kNanoseconds),
                      stats::integers("Count A"), stats::integers("Count B"), stats::integers("Sum A", stats::Unit::kNanoseconds),
                      stats::integers("Sum B", stats::Unit::kNanoseconds), stats::texts("Kind"), stats::texts("Name")});
  for (const DiffItem& item : diff.items) {
    if (only_changes && !is_headline(item) && !is_change(item)) continue;
    table.add_row(finite(item.change), finite(item.change_low), finite(item.change_high),
                  table.add_text(std::string(analysis::diff_verdict_name(item.verdict))), item.first.per_iteration,
                  item.second.per_iteration, static_cast<std::int64_t>(item.first.count), static_cast<std::int64_t>(item.second.count),
                  item.first.total, item.second.total, table.add_text(std::string(analysis::diff_kind_name(item.kind))),
                  table.add_text(item.name));
  }
  return table;
}

std::string change_text(const DiffItem& item) {
  if (std::isnan(item.change)) return "was not there before";
  std::string text = format_change(item.change);
  if (std::isfinite(item.change_low) && std::isfinite(item.change_high))
    text.append(" (between ").append(format_change(item.change_low)).append(" and ").append(format_change(item.change_high)).append(")");
  if (item.verdict == DiffVerdict::kSame) text += ", no more than noise";
  if (item.verdict == DiffVerdict::kUnsure) text += ", measured once each: noise is not known";
  return text;
}

// "18 (without the first 2)"
std::string iterations_text(std::size_t compared, std::size_t skipped) {
  std::string text = with_thousands(compared);
  if (skipped > 0) text += " (without the first " + std::to_string(skipped) + ")";
  return text;
}

// Names of kernels fill a screen.
std::string abbreviated(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
}

// The answer in a few lines: how the traces were aligned, and what their times did.
std::string summary_of(const TraceDiff& diff, const std::string& first, const std::string& second) {
  std::string text = "A: " + first + "\nB: " + second + "\n";
  if (!diff.by_iteration())
    text += "Whole traces are compared: they have no NVTX range that repeats in both, and no kernel that does so at regular times.\n";
  else
    text += (diff.aligned_by.empty() ? "Compared from one launch to the next of the kernel \"" + abbreviated(diff.repeating_work) + "\""
                                     : "Compared by iteration of \"" + diff.aligned_by + "\"") +
            ": " + iterations_text(diff.first_iterations, diff.first_skipped) + " in A, " +
            iterations_text(diff.second_iterations, diff.second_skipped) + " in B.\n";
  for (const DiffItem& item : diff.items) {
    if (!is_headline(item) || (item.kind == DiffKind::kGpuIdle && item.name != "GPU idle")) continue;
    text += item.name + ": " + duration_text(std::llround(item.first.per_iteration)) + " -> " +
            duration_text(std::llround(item.second.per_iteration)) + ", " + change_text(item) + "\n";
  }
  return text;
}

// The items that took longer by more than the limit, beyond noise: the duration, or the work of GPUs.
int judge(const TraceDiff& diff, double limit) {
  int code = kSuccess;
  for (const DiffItem& item : diff.items) {
    const bool counts = item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy;
    if (!counts || !is_change(item) || !(item.change > limit)) continue;
    std::cerr << "lanescope: " << item.name << " grew by " << change_text(item) << ", more than is allowed.\n";
    code = kFailure;
  }
  return code;
}

}  // namespace

int run_diff(Arguments arguments) {
  CLI::App app(
      "Says what changed from trace A to trace B, and what of that is more than noise: iterations, idle GPUs and their causes, kernels, "
      "calls, ranges.\n"
      "Everything is compared per iteration where an NVTX range, or else a kernel at regular times, repeats in both traces; else as a "
      "whole.",
      "lanescope diff");
  std::string first_file, second_file, fail_above;
  analysis::DiffOptions options;
  TableOutput output;
  bool all = false;
  app.add_option("A", first_file, "The trace before")->required();
  app.add_option("B", second_file, "The trace after")->required();
  app.add_option("--range", options.range, "The NVTX range of the iterations (step_12 stands for step_*); chosen when not given")
      ->type_name("NAME");
  app.add_option("--skip", options.skip, "Leave out the first N iterations (default: those that take longer because they warm up)")
      ->type_name("N");
  app.add_option("--fail-above", fail_above, "Exit with 1 when the duration or the GPUs' work grew by more than this, beyond noise")
      ->type_name("PERCENT");
  app.add_flag("--all", all, "List also what did not change (formats for programs always do)");
  output.add_options(app);
  app.footer(
      "Examples:\n"
      "  lanescope diff before.trace after.trace\n"
      "  lanescope diff --fail-above 5 main.trace branch.trace   exit code 1 when it became slower by more than 5 %\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  const Result<std::optional<double>> limit = parse_percent(fail_above);
  if (!limit) return fail(limit.error());
  if (const auto prepared = output.prepare(first_file); !prepared) return fail(prepared.error());
  const auto first = open_trace(first_file);
  if (!first) return fail(first.error());
  const auto second = open_trace(second_file);
  if (!second) return fail(second.error());

  const Result<TraceDiff> diff = analysis::compare_traces(**first, **second, options);
  if (!diff) return fail(diff.error());
  const bool for_people = output.is_for_people(0);
  if (for_people) std::cout << summary_of(*diff, first_file, second_file);
  const auto written = output.write(0, {"What changed", "diff", ""}, table_of(*diff, for_people && !all));
  if (!written) return fail(written.error());
  return limit->has_value() ? judge(*diff, **limit) : kSuccess;
}

}  // namespace lanescope::cli
