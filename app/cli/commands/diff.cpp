// lanescope diff: what changed from one trace to another.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <span>

#include "checks.h"
#include "commands.h"
#include "model/analysis/diff/counter_diff.h"
#include "model/analysis/diff/diff_limits.h"
#include "model/analysis/diff/diff_words.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/import/open_trace.h"
#include "model/trace/completeness.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"
#include "output/losses.h"
#include "output/output_file.h"
#include "output/table_output.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using analysis::CounterChange;
using analysis::DiffItem;
using analysis::DiffKind;
using analysis::DiffLimit;
using analysis::DiffVerdict;
using analysis::LimitVerdict;
using analysis::TraceDiff;

constexpr const char* kDiffFooter =
    "Examples:\n"
    "  lanescope diff before.trace after.trace\n"
    "  lanescope diff --fail-above 5 main.trace branch.trace   exit code 1 when it became slower by more than 5 %\n"
    "  lanescope diff --fail-above 'Instructions executed=2%' main.trace branch.trace   the same of kernels' counters\n"
    "  lanescope diff a1.trace a2.trace a3.trace --against b1.trace b2.trace b3.trace   three runs a side\n";

bool is_change(const DiffItem& item) { return item.verdict != DiffVerdict::kSame && !item.is_too_noisy(); }
bool is_headline(const DiffItem& item) { return item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy || item.kind == DiffKind::kGpuIdle; }

// Infinite bounds are left empty, as unknown ones are.
double finite(double value) { return std::isfinite(value) ? value : stats::kNoReal; }

enum class DiffLines { kAll, kChanges };

stats::Table table_of(const TraceDiff& diff, DiffLines lines) {
  const std::string per = diff.by_iteration() ? "Per Iteration" : "Total";
  stats::Table table({stats::reals("Change", stats::Unit::kPercent), stats::reals("Low", stats::Unit::kPercent), stats::reals("High", stats::Unit::kPercent),
                      stats::texts("Verdict"), stats::reals(per + " A", stats::Unit::kNanoseconds), stats::reals(per + " B", stats::Unit::kNanoseconds),
                      stats::integers("Count A"), stats::integers("Count B"), stats::integers("Sum A", stats::Unit::kNanoseconds),
                      stats::integers("Sum B", stats::Unit::kNanoseconds), stats::texts("Kind"), stats::texts("Name")});
  for (const DiffItem& item : diff.items) {
    if (lines == DiffLines::kChanges && !is_headline(item) && !is_change(item)) continue;
    table.add_row(finite(item.change), finite(item.change_low), finite(item.change_high),
                  table.add_text(std::string(analysis::diff_verdict_name(item.verdict))), item.first.per_iteration, item.second.per_iteration,
                  static_cast<std::int64_t>(item.first.count), static_cast<std::int64_t>(item.second.count), item.first.total, item.second.total,
                  table.add_text(std::string(analysis::diff_kind_name(item.kind))), table.add_text(item.name));
  }
  return table;
}

std::string_view unit_text(kernels::ValueUnit unit) {
  switch (unit) {
    case kernels::ValueUnit::kPercent:
      return "%";
    case kernels::ValueUnit::kNanoseconds:
      return "ns";
    case kernels::ValueUnit::kBytes:
      return "B";
    default:
      return {};
  }
}

// A kernel has a row for each of its shapes.
stats::Table counter_table(const std::vector<CounterChange>& changes, DiffLines lines) {
  stats::Table table({stats::reals("Change", stats::Unit::kPercent), stats::reals("Low", stats::Unit::kPercent), stats::reals("High", stats::Unit::kPercent),
                      stats::texts("Verdict"), stats::reals("A"), stats::reals("B"), stats::texts("Unit"), stats::texts("What"), stats::integers("Launches A"),
                      stats::integers("Launches B"), stats::texts("GridXYZ"), stats::texts("BlockXYZ"), stats::texts("Kernel")});
  for (const CounterChange& change : changes) {
    if (lines == DiffLines::kChanges && !analysis::is_worth_a_look(change)) continue;
    table.add_row(finite(change.change), finite(change.change_low), finite(change.change_high),
                  table.add_text(std::string(analysis::diff_verdict_name(change.verdict))), change.first, change.second,
                  table.add_text(std::string(unit_text(change.unit))), table.add_text(std::string(change.what)),
                  static_cast<std::int64_t>(change.first_launches), static_cast<std::int64_t>(change.second_launches), table.add_text(change.grid),
                  table.add_text(change.block), table.add_text(change.kernel));
  }
  return table;
}

// The text of a CounterChange.
std::string bounded_change_text(const CounterChange& change) { return analysis::bounded_change_words(change.change, change.change_low, change.change_high); }

using Files = std::vector<std::filesystem::path>;

// One run: a file, or a folder with a file for each rank.
Result<std::shared_ptr<const Trace>> open_run(const std::filesystem::path& path) { return open_ranks(std::array{path}, EventPlace::kInMemoryWhereTheyFit); }

// The runs of a side. A file that holds the same recording as another one is no further run, so it is left out of `files`, which is said.
Result<std::vector<std::shared_ptr<const Trace>>> open_runs(Files& files) {
  keep_as_private_as(files);
  std::vector<std::shared_ptr<const Trace>> runs;
  Files kept;
  for (const std::filesystem::path& file : files) {
    const auto run = open_run(file);
    if (!run) return run.error();
    const auto same = std::find_if(runs.begin(), runs.end(), [&](const std::shared_ptr<const Trace>& other) {
      return is_of_same_recording(**run, *other) || is_of_same_recording(*other, **run);
    });
    if (same == runs.end()) {
      runs.push_back(*run);
      kept.push_back(file);
      continue;
    }
    std::filesystem::path& other = kept[static_cast<std::size_t>(same - runs.begin())];
    std::filesystem::path left_out = file;
    if ((*run)->event_count() > (*same)->event_count()) {
      *same = *run;
      std::swap(other, left_out);
    }
    std::cerr << "lanescope: " << left_out.string() << " is left out: it holds the same recording as " << other.string() << ".\n";
  }
  files = std::move(kept);
  return runs;
}

// Without --against, each of the two files is a side.
Result<void> split_sides(Files& first, Files& second) {
  if (!second.empty()) {
    if (!first.empty()) return {};
    return Error{"Name the runs before the change in front of --against: lanescope diff A... --against B...", ErrorKind::kUsage};
  }
  if (first.size() != 2)
    return Error{first.size() < 2 ? "Name two traces: lanescope diff A B"
                                  : "Say which of the " + std::to_string(first.size()) + " traces are after the change: lanescope diff A... --against B...",
                 ErrorKind::kUsage};
  second.push_back(std::move(first.back()));
  first.pop_back();
  return {};
}

std::string names_of(const Files& files) {
  std::string names;
  for (const std::filesystem::path& file : files) names.append(names.empty() ? "" : ", ").append(file.string());
  return names;
}

// The answer in a few lines: how the traces were aligned, and what their times did.
std::string summary_of(const TraceDiff& diff, const Files& first, const Files& second) {
  std::string text = "A: " + names_of(first) + "\nB: " + names_of(second) + "\n";
  text += analysis::alignment_words(diff).english() + "\n";
  for (const DiffItem& item : diff.items) {
    if (!is_headline(item) || (item.kind == DiffKind::kGpuIdle && item.name != "GPU idle")) continue;
    text += item.name + ": " + duration_text(std::llround(item.first.per_iteration)) + " -> " + duration_text(std::llround(item.second.per_iteration)) + ", " +
            analysis::change_words(item).english() + "\n";
  }
  // What changes of precision gained or cost, although no kernel is on both sides.
  constexpr std::size_t kMostProducts = 5;
  std::size_t products = 0;
  for (const DiffItem& item : diff.items) {
    if (item.kind != DiffKind::kProducts || ++products > kMostProducts) continue;
    text += "Matrix products in " + analysis::abbreviated_name(item.name) + ": " + duration_text(std::llround(item.first.per_iteration)) + " -> " +
            duration_text(std::llround(item.second.per_iteration)) + ", " + analysis::change_words(item).english() + "\n";
  }
  if (products > 0) text += "Matrix products are paired by the NVTX ranges around their launches, since their kernels have other names in B.\n";
  if (const Message caution = analysis::caution_about(diff); !caution.empty()) text += caution.english() + "\n";
  return text;
}

// Says what exceeds a limit, and which limits could not be checked.
int judge(const TraceDiff& diff, const std::vector<CounterChange>& counters, std::span<const std::string> unpaired, const std::vector<DiffLimit>& limits) {
  int code = kSuccess;
  for (const DiffLimit& limit : limits) {
    for (const DiffItem& item : diff.items) {
      const LimitVerdict verdict = analysis::judge(limit, item);
      if (verdict == LimitVerdict::kUnsure)
        std::cerr << "lanescope: whether " << item.name << " keeps its limit can't be told, which is allowed: " << analysis::change_words(item).english()
                  << ". More iterations, or several runs a side (--against), tell.\n";
      if (verdict != LimitVerdict::kExceeded) continue;
      const bool is_new = item.verdict == DiffVerdict::kOnlySecond;
      std::cerr << "lanescope: " << item.name << " grew "
                << (is_new ? "from nothing to " + duration_text(std::llround(item.second.per_iteration)) : "by " + analysis::change_words(item).english())
                << ", more than is allowed.\n";
      code = kFailure;
    }
    bool is_compared = limit.metric.empty();
    for (const CounterChange& change : counters) {
      is_compared = is_compared || change.what == limit.metric;
      const LimitVerdict verdict = analysis::judge(limit, change);
      if (verdict == LimitVerdict::kKept) continue;
      std::cerr << "lanescope: " << change.what << " of kernel " << analysis::abbreviated_name(change.kernel)
                << (change.is_from_nothing() ? " grew from nothing" : " changed by " + bounded_change_text(change))
                << (verdict == LimitVerdict::kUnsure ? ", measured too seldom: noise is not known, so this is allowed.\n" : ", more than is allowed.\n");
      if (verdict == LimitVerdict::kExceeded) code = kFailure;
    }
    if (!limit.metric.empty())
      for (const std::string& kernel : unpaired)
        std::cerr << "lanescope: " << limit.metric << " of kernel " << analysis::abbreviated_name(kernel)
                  << " can't be held to its limit: it was not measured on both sides, with shapes that can be paired.\n";
    if (is_compared) continue;
    std::cerr << "lanescope: " << limit.metric << " was read of no kernel on both sides, so its limit can't be checked. Record both with --kernels=counters.\n";
    code = kFailure;
  }
  return code;
}

enum class Wholeness { kWhole, kLacking };

// Says what each run lacks.
Wholeness told_losses(const std::vector<std::shared_ptr<const Trace>>& runs, const Files& files) {
  Wholeness wholeness = Wholeness::kWhole;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    say_losses(*runs[i], files[i].string());
    if (!losses_text(*runs[i]).empty()) wholeness = Wholeness::kLacking;
  }
  return wholeness;
}

}  // namespace

int run_diff(Arguments arguments) {
  CLI::App app(
      "Says what changed from trace A to trace B, and what of that is more than noise: iterations, idle GPUs and their causes, kernels, "
      "calls, ranges.\n"
      "Everything is compared per iteration where an NVTX range, or else a kernel at regular times, repeats in both traces; else as a "
      "whole. With --against, several runs stand on a side, and what differs from run to run is noise.",
      "lanescope diff");
  Files first_files, second_files;
  std::vector<std::string> fail_above;
  analysis::DiffOptions options;
  TableOutput output;
  bool all = false;
  app.add_option("FILE", first_files, "The trace before and the one after; a folder stands for the traces of all ranks in it");
  app.add_option("--against", second_files, "The runs after the change; those in front of it are the runs before")->type_name("FILE...");
  app.add_option("--range", options.range, "The NVTX range of the iterations (step_12 stands for step_*); chosen when not given")->type_name("NAME");
  app.add_option("--skip", options.skip, "Leave out the first N iterations (default: those that take longer because they warm up)")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000'000));
  app.add_option("--fail-above", fail_above,
                 "Exit with 1 when the duration, the GPUs' work or a kernel whose counters were read\ntakes longer by more than this, beyond noise; or when a "
                 "metric of such a kernel\n"
                 "grew by more (\"DRAM: read=5%\") or fell by more (\"L2 hit rate=-5%\"); several times: all of them.\n"
                 "What noise may hide, or was measured too seldom, is told and fails nothing: exit code 0")
      ->type_name("[METRIC=]PERCENT")
      ->allow_extra_args(false)  // files follow the option
      ->take_all();
  app.add_flag("--all", all, "List also what did not change (formats for programs always do)");
  output.add_options(app);
  app.footer(kDiffFooter);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  std::vector<DiffLimit> limits;
  for (const std::string& text : fail_above) {
    const auto limit = analysis::parse_diff_limit(text);
    if (!limit) return fail(limit.error());
    limits.push_back(*limit);
  }
  if (const auto split = split_sides(first_files, second_files); !split) return fail(split.error());
  Files files = first_files;
  files.insert(files.end(), second_files.begin(), second_files.end());
  if (const auto prepared = output.prepare(files); !prepared) return fail(prepared.error());
  const auto first = open_runs(first_files);
  if (!first) return fail(first.error());
  const auto second = open_runs(second_files);
  if (!second) return fail(second.error());

  for (const auto& side : {*first, *second})
    for (const std::shared_ptr<const Trace>& run : side) output.set_source(run);
  const Result<TraceDiff> diff = analysis::compare_runs(*first, *second, options);
  if (!diff) return fail(diff.error());
  const bool for_people = output.is_for_people(0);
  if (const auto read = output.check_sources(); !read) return fail(read.error());
  if (for_people) std::cout << summary_of(*diff, first_files, second_files);
  const DiffLines lines = for_people && !all ? DiffLines::kChanges : DiffLines::kAll;
  const auto written = output.write(0, {"What changed", "diff", ""}, table_of(*diff, lines));
  if (!written) return fail(written.error());
  const std::vector<CounterChange> counters = analysis::compare_counters(*first, *second);
  const stats::Table by_counters = counter_table(counters, lines);
  const Result<void> done = by_counters.empty()            ? output.leave_out(1, "diff_counters")
                            : output.is_json_on_console(1) ? Result<void>{}  // one array, independent of what was recorded
                                                           : output.write(1, {"Kernels by their counters", "diff_counters", ""}, by_counters);
  if (!done) return fail(done.error());
  if (!by_counters.empty() && output.is_json_on_console(1))
    TableOutput::skip("Kernels by their counters are a table of their own. Write both to files: lanescope diff -f json -o NAME A B");
  const bool on_metrics = std::any_of(limits.begin(), limits.end(), [](const DiffLimit& limit) { return !limit.metric.empty(); });
  const int verdict = judge(*diff, counters, on_metrics ? analysis::unpaired_kernels(*first, *second) : std::vector<std::string>(), limits);
  const Wholeness wholeness = std::max(told_losses(*first, first_files), told_losses(*second, second_files));
  if (limits.empty() || wholeness == Wholeness::kWhole) return verdict;
  return fail({"A recording that is not whole can't be held to a limit. Record it again, or compare without --fail-above."});
}

}  // namespace lanescope::cli
