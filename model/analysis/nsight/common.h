// What Nsight's rules share.
#pragma once

#include <limits>

#include "model/analysis/rule.h"
#include "model/stats/selection.h"

namespace lanescope::analysis {

// The events that the arguments rows, start, end and nvtx leave. Fails when nvtx names no range.
[[nodiscard]] inline Result<stats::Selection> select(const RuleContext& context, const RuleArguments& arguments) {
  stats::ReportOptions options;
  options.stop = context.stop;
  const Nanoseconds start = arguments.duration("start");
  options.time_range = TimeRange{start > 0 ? start : std::numeric_limits<Nanoseconds>::min(), arguments.duration("end")};
  if (context.time != kWholeTrace) options.time_range = options.time_range->intersected(context.time);
  if (const std::string& range = arguments.text("nvtx"); !range.empty()) {
    const auto filter = stats::parse_range_filter(range);
    if (!filter) return filter.error();
    options.range = *filter;
  }
  return stats::Selection::of(context.trace, options, context.launch_index);
}

// The number of rows to keep.
[[nodiscard]] inline std::size_t row_limit(const RuleArguments& arguments) {
  const std::int64_t rows = arguments.integer("rows");
  return rows < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(rows);
}

[[nodiscard]] inline RuleAnswer answer(std::string name, std::string title, stats::Table table, Message nothing_found) {
  if (table.empty()) return {{}, {}, std::move(nothing_found)};
  RuleAnswer result;
  result.tables.push_back({std::move(name), std::move(title), std::move(table)});
  return result;
}

}  // namespace lanescope::analysis
