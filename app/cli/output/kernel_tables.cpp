#include "output/kernel_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "model/analysis/idle/launches_at_once.h"
#include "model/kernels/counters/sections.h"
#include "model/kernels/instructions/costly_line.h"
#include "model/kernels/instructions/instruction_mix.h"
#include "model/kernels/occupancy.h"
#include "model/trace/text/extent.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using kernels::KernelMetrics;
using kernels::ProfiledKernel;
using kernels::RecordedMetrics;

std::string rounded(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string value_text(const kernels::SectionRow& row) {
  switch (row.unit) {
    case kernels::ValueUnit::kPercent:
      return rounded("%.6g %%", row.value);
    case kernels::ValueUnit::kNanoseconds:
      return rounded("%.6g us", row.value / 1000);
    case kernels::ValueUnit::kBytes:
      return rounded("%.6g B", row.value);
    case kernels::ValueUnit::kBytesPerSecond:
      return rounded("%.6g GB/s", row.value / 1e9);
    case kernels::ValueUnit::kHertz:
      return rounded("%.6g GHz", row.value / 1e9);
    case kernels::ValueUnit::kCycles:
      return rounded("%.6g cycles", row.value);
    case kernels::ValueUnit::kOperationsPerSecond:
      return rounded("%.6g TFLOP/s", row.value / 1e12);
    case kernels::ValueUnit::kNumber:
      break;
  }
  // Counts are exact.
  constexpr double kMostExact = 9e15;
  return row.value == std::floor(row.value) && row.value < kMostExact ? rounded("%.0f", row.value) : rounded("%.6g", row.value);
}

std::vector<std::size_t> by_weight(const RecordedMetrics& kernels) {
  std::vector<std::size_t> order(kernels.metrics.kernels().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return kernels.weight(a) > kernels.weight(b); });
  return order;
}

// The share of the time of each kernel's launches that it can win, because those at the same time count once.
std::vector<double> shares_at_once(const RecordedMetrics& kernels, const Trace* trace) {
  if (trace == nullptr || kernels.measurements.empty()) return std::vector<double>(kernels.metrics.kernels().size(), 1);
  std::vector<analysis::KernelOnGpu> names;
  for (const kernels::Measurement& measurement : kernels.measurements) names.push_back({measurement.gpu, trace->event(measurement.event).name});
  return analysis::shares_at_once(*trace, names);
}

std::string measurement_text(const kernels::Measurement& measurement) {
  std::string text = std::to_string(measurement.passes) + (measurement.passes == 1 ? " pass" : " passes");
  if (measurement.launches > 1) text += " over " + std::to_string(measurement.launches) + " launches";
  if (measurement.of_its_kind.count < 2) return text;  // the only launch of its kind
  text += "; " + std::to_string(measurement.of_its_kind.count) + " launches like it take ";
  return text + duration_text(measurement.of_its_kind.time);
}

// ", grid 128 × 1 × 1, block 256 × 1 × 1"; empty if the shape is not known.
std::string shape_text(const KernelDetail& kernel) {
  return kernel.grid[0] == 0 ? std::string() : ", grid " + extent_text(kernel.grid, " × ") + ", block " + extent_text(kernel.block, " × ");
}

using Lines = std::vector<std::optional<kernels::CostlyLine>>;

// The lines of each cause; empty if the kernels belong to no trace.
Lines lines_of(const RecordedMetrics& kernels, std::size_t number, const Trace* trace, const kernels::Verdict& verdict) {
  if (trace == nullptr || kernels.measurements.empty()) return Lines(verdict.advice.size());
  const kernels::Measurement& measurement = kernels.measurements[number];
  return kernels::costly_lines(*trace, measurement.process, trace->event(measurement.event).name, verdict.advice);
}

}  // namespace

stats::Table verdict_table(const RecordedMetrics& kernels, const Trace* trace) {
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Duration", stats::Unit::kNanoseconds),
                      stats::integers("ID", stats::Unit::kIdentifier), stats::texts("Bound by"), stats::reals("Utilization", stats::Unit::kPercent),
                      stats::texts("Rule"), stats::reals("Gain", stats::Unit::kPercent), stats::texts("GridXYZ"), stats::texts("BlockXYZ"),
                      stats::texts("Kernel"), stats::texts("Seen"), stats::texts("What to do"), stats::texts("Pipes"), stats::texts("Line")});
  struct Row {
    Nanoseconds winnable;
    std::size_t kernel;
    const kernels::Verdict* verdict;
    const kernels::Advice* advice;
    std::string line = {};
  };
  const std::vector<std::size_t> order = kernels.one_of_each();
  const std::vector<double> once = shares_at_once(kernels, trace);
  std::map<std::size_t, kernels::Verdict> verdicts;
  for (const std::size_t number : order) verdicts[number] = kernels::judge(kernels.metrics, kernels.metrics.kernels()[number]);
  std::vector<Row> rows;
  for (const auto& [number, verdict] : verdicts) {
    if (verdict.advice.empty()) rows.push_back({0, number, &verdict, nullptr});
    const Lines lines = lines_of(kernels, number, trace, verdict);
    for (std::size_t i = 0; i < verdict.advice.size(); ++i)
      rows.push_back({static_cast<Nanoseconds>(verdict.advice[i].gain * once[number] * static_cast<double>(kernels.weight(number))), number, &verdict,
                      &verdict.advice[i], lines[i] ? lines[i]->place : std::string()});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.winnable > b.winnable; });
  for (const Row& row : rows) {
    const ProfiledKernel& kernel = kernels.metrics.kernels()[row.kernel];
    table.add_row(
        row.winnable, kernels.weight(row.kernel), static_cast<std::int64_t>(row.kernel), table.add_text(std::string(kernels::bound_name(row.verdict->bound))),
        row.verdict->utilization, table.add_text(row.advice ? std::string(row.advice->rule) : std::string()),
        row.advice == nullptr       ? 0.0
        : row.advice->is_gain_known ? 100 * row.advice->gain
                                    : stats::kNoReal,
        table.add_text(extent_text(kernel.detail.grid)), table.add_text(extent_text(kernel.detail.block)), table.add_text(kernel.name),
        table.add_text(row.advice ? row.advice->seen.english() : std::string()), table.add_text(row.advice ? row.advice->what_to_do.english() : std::string()),
        table.add_text(row.verdict->pipes.english()), table.add_text(row.line));
  }
  return table;
}

stats::Table section_table(const RecordedMetrics& kernels, const std::vector<std::string>& wanted) {
  stats::Table table(
      {stats::integers("ID", stats::Unit::kIdentifier), stats::texts("Kernel"), stats::texts("Section"), stats::texts("What"), stats::texts("Value")});
  const auto is_wanted = [&wanted](std::string_view name) {
    return std::find_if(wanted.begin(), wanted.end(), [name](const std::string& each) { return each == "all" || each == name; }) != wanted.end();
  };
  for (const std::size_t number : by_weight(kernels)) {
    const ProfiledKernel& kernel = kernels.metrics.kernels()[number];
    for (const kernels::Section& one : kernels::sections(kernels.metrics, kernel)) {
      if (!is_wanted(one.name)) continue;
      for (const kernels::SectionRow& row : one.rows)
        table.add_row(static_cast<std::int64_t>(kernels.number(number)), table.add_text(kernel.name), table.add_text(std::string(one.name)),
                      table.add_text(row.label.english()), table.add_text(value_text(row)));
    }
  }
  return table;
}

stats::Table opcode_table(const Trace& trace) {
  stats::Table table(
      {stats::integers("ID", stats::Unit::kIdentifier), stats::texts("Kernel"), stats::texts("Section"), stats::texts("What"), stats::texts("Value")});
  std::int64_t number = 0;
  for (const kernels::InstructionMix& mix : kernels::instruction_mixes(trace)) {
    for (const kernels::SectionRow& row : kernels::opcode_rows(kernels::opcodes_of_a_launch(mix)))
      table.add_row(number, table.add_text(std::string(trace.name(mix.kernel))), table.add_text(std::string("InstructionStats")), table.add_text(row.label),
                    table.add_text(value_text(row)));
    ++number;
  }
  return table;
}

stats::Table raw_table(const RecordedMetrics& kernels) {
  stats::Table table(
      {stats::integers("ID", stats::Unit::kIdentifier), stats::texts("Kernel"), stats::texts("Metric"), stats::texts("Unit"), stats::texts("Value")});
  for (std::size_t number = 0; number < kernels.metrics.kernels().size(); ++number) {
    const ProfiledKernel& kernel = kernels.metrics.kernels()[number];
    for (std::size_t i = 0; i < kernel.values.size(); ++i)
      if (std::isfinite(kernel.values[i]))
        table.add_row(static_cast<std::int64_t>(kernels.number(number)), table.add_text(kernel.name), table.add_text(kernels.metrics.metrics()[i].name),
                      table.add_text(kernels.metrics.metrics()[i].unit), table.add_text(rounded("%.12g", kernel.values[i])));
  }
  return table;
}

stats::Table summary_table(const RecordedMetrics& kernels) {
  struct Values {
    std::uint64_t launches = 0;
    double least = 0, most = 0, sum = 0;
  };
  const std::span<const ProfiledKernel> launches = kernels.metrics.kernels();
  const std::size_t metrics = kernels.metrics.metrics().size();
  std::vector<std::string_view> names;  // in order
  std::unordered_map<std::string_view, std::vector<Values>> by_name;
  for (const ProfiledKernel& kernel : launches) {
    const auto [known, is_new] = by_name.try_emplace(kernel.name, metrics);
    if (is_new) names.push_back(kernel.name);
    for (std::size_t i = 0; i < kernel.values.size(); ++i) {
      const double value = kernel.values[i];
      if (!std::isfinite(value)) continue;
      Values& values = known->second[i];
      values.least = values.launches == 0 ? value : std::min(values.least, value);
      values.most = values.launches == 0 ? value : std::max(values.most, value);
      values.sum += value;
      ++values.launches;
    }
  }
  stats::Table table({stats::texts("Kernel"), stats::texts("Metric"), stats::texts("Unit"), stats::integers("Launches"), stats::texts("Minimum"),
                      stats::texts("Maximum"), stats::texts("Average")});
  for (const std::string_view name : names)
    for (std::size_t i = 0; i < metrics; ++i) {
      const Values& values = by_name[name][i];
      if (values.launches == 0) continue;
      const kernels::Metric& metric = kernels.metrics.metrics()[i];
      table.add_row(table.add_text(std::string(name)), table.add_text(metric.name), table.add_text(metric.unit), static_cast<std::int64_t>(values.launches),
                    table.add_text(rounded("%.12g", values.least)), table.add_text(rounded("%.12g", values.most)),
                    table.add_text(rounded("%.12g", values.sum / static_cast<double>(values.launches))));
    }
  return table;
}

void print_verdicts(const RecordedMetrics& kernels, const Trace* trace) {
  const std::vector<double> once = shares_at_once(kernels, trace);
  for (const std::size_t number : kernels.one_of_each()) {
    const ProfiledKernel& kernel = kernels.metrics.kernels()[number];
    const kernels::Verdict verdict = kernels::judge(kernels.metrics, kernel);
    const Nanoseconds duration = kernels::duration(kernels.metrics, kernel);
    const auto weight = static_cast<double>(kernels.weight(number));
    std::cout << kernels.number(number) << ". " << kernel.name << shape_text(kernel.detail) << "\n   "
              << (duration > 0 ? duration_text(duration) : "Its time was not measured");
    if (verdict.bound == kernels::Bound::kUnknown)
      std::cout << (duration > 0 ? "; what bounds it was not measured" : ", nor was what bounds it");
    else
      std::cout << ", bound by " << kernels::bound_text(verdict);
    if (!kernels.measurements.empty() && kernels.measurements[number].passes > 0) std::cout << ". " << measurement_text(kernels.measurements[number]);
    std::cout << '\n';
    if (const Message at_once = analysis::at_once_text(once[number]); !at_once.empty()) std::cout << "   " << at_once << '\n';
    if (!verdict.pipes.empty()) std::cout << "   " << verdict.pipes << '\n';
    const Lines lines = lines_of(kernels, number, trace, verdict);
    for (std::size_t i = 0; i < verdict.advice.size(); ++i) {
      const kernels::Advice& advice = verdict.advice[i];
      std::cout << "   " << advice.rule << ": ";
      if (!advice.is_gain_known)
        std::cout << "what it could win is not known. ";
      else
        std::cout << "up to "
                  << (weight > 0 ? duration_text(std::llround(advice.gain * once[number] * weight)) + rounded(" (%.0f %%). ", 100 * advice.gain)
                                 : rounded("%.0f %%. ", 100 * advice.gain));
      std::cout << advice.seen << "\n      " << advice.what_to_do << '\n';
      if (lines[i]) std::cout << "      " << kernels::line_text(*lines[i]) << '\n';
    }
  }
  if (const std::optional<double> clock = kernels.own_clock(0))
    std::cout << "Measured at the clock that the GPU had (" << rounded("%.2f GHz", *clock / 1e9) << " in the first kernel), with caches as they were.\n";
  for (const LeftOutKernel& left_out : kernels.left_out) std::cout << "Not measured: " << left_out.name << ". " << left_out.reason << '\n';
}

}  // namespace lanescope::cli
