// Hardware counters of the launches that were measured, a row each.
#include <algorithm>

#include "../columns/run_column.h"
#include "../report_functions.h"
#include "grid_text.h"
#include "model/analysis/idle/launches_at_once.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/counters/sections.h"

namespace lanescope::stats {
namespace {

// If a peak was not measured, there is no share of it.
double share(double percent) { return percent > 0 ? percent : kNoReal; }

}  // namespace

Table kernel_metrics(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  const kernels::RecordedMetrics recorded = kernels::recorded_metrics(trace, selection.time());
  Table table({integers("Winnable at Most", Unit::kNanoseconds),
               integers("All Launches", Unit::kNanoseconds),
               integers("Launches"),
               integers("Start", Unit::kNanoseconds),
               integers("Duration", Unit::kNanoseconds),
               words("Bound by"),
               reals("Compute", Unit::kPercent),
               reals("Memory", Unit::kPercent),
               reals("L1", Unit::kPercent),
               reals("L2", Unit::kPercent),
               reals("DRAM", Unit::kPercent),
               reals("Achieved Occupancy", Unit::kPercent),
               reals("Issue Slots Used", Unit::kPercent),
               texts("Cause"),
               reals("Gain", Unit::kPercent),
               texts("GridXYZ"),
               texts("BlockXYZ"),
               integers("Passes"),
               reals("SM Clock MHz"),
               integers("GPU"),
               texts("Name")});
  struct Row {
    Nanoseconds winnable;
    std::size_t kernel;
    kernels::Verdict verdict;
  };
  std::vector<analysis::KernelOnGpu> names;
  for (const kernels::Measurement& measurement : recorded.measurements) names.push_back({measurement.gpu, trace.event(measurement.event).name});
  const std::vector<double> once = analysis::shares_at_once(trace, names, selection.time().value_or(TimeRange{INT64_MIN, INT64_MAX}));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < recorded.measurements.size(); ++i) {
    const Event event = trace.event(recorded.measurements[i].event);
    if (selection.time() && !selection.time()->takes({event.start, event.end()})) continue;
    kernels::Verdict verdict = kernels::judge(recorded.metrics, recorded.metrics.kernels()[i]);
    const double gain = verdict.advice.empty() ? 0 : verdict.advice.front().gain;
    rows.push_back({static_cast<Nanoseconds>(gain * once[i] * static_cast<double>(recorded.weight(i))), i, std::move(verdict)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.winnable > b.winnable; });
  for (const auto& [winnable, number, verdict] : rows) {
    const kernels::ProfiledKernel& kernel = recorded.metrics.kernels()[number];
    const kernels::Measurement& measurement = recorded.measurements[number];
    const auto value = [&](std::string_view metric) { return recorded.metrics.value(kernel, metric).value_or(kNoReal); };
    const kernels::Advice* const first = verdict.advice.empty() ? nullptr : &verdict.advice.front();
    const double clock = value("gpc__cycles_elapsed.avg.per_second");
    table.add_row(winnable, recorded.weight(number), static_cast<std::int64_t>(measurement.of_its_kind.count), trace.event(measurement.event).start,
                  kernels::duration(recorded.metrics, kernel), table.add_text(std::string(kernels::bound_name(verdict.bound))), share(verdict.compute),
                  share(verdict.memory), share(verdict.l1), share(verdict.l2), share(verdict.dram), value("sm__warps_active.avg.pct_of_peak_sustained_active"),
                  value("smsp__issue_active.avg.pct_of_peak_sustained_active"), table.add_text(first == nullptr ? std::string() : std::string(first->rule)),
                  first == nullptr || !first->is_gain_known ? kNoReal : 100 * first->gain, table.add_text(grid_text(kernel.detail.grid)),
                  table.add_text(grid_text(kernel.detail.block)), static_cast<std::int64_t>(measurement.passes), clock / 1e6,
                  measurement.gpu == kNone ? kNoInteger : static_cast<std::int64_t>(trace.gpus()[measurement.gpu].ordinal), table.add_text(kernel.name));
  }
  add_origins(trace, table, [&](std::size_t row) { return trace.track_of(recorded.measurements[rows[row].kernel].event.lane).key.process; });
  return table;
}

}  // namespace lanescope::stats
