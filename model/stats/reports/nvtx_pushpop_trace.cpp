// Every push/pop range with its place in the nest.
#include <algorithm>

#include "../nvtx_ranges.h"
#include "../range_stack.h"
#include "../report_functions.h"
#include "../run_column.h"

namespace lanescope::stats {

Table nvtx_pushpop_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  const auto threads = ranges_by_thread(selection, RangeKinds::kPushPop);
  struct Row {
    const std::vector<NvtxRange>* ranges;
    std::size_t index;
    ThreadId thread;
    [[nodiscard]] const NvtxRange& range() const { return (*ranges)[index]; }
  };
  std::vector<Row> rows;
  for (const auto& [thread, ranges] : threads)
    for (std::size_t i = 0; i < ranges.size(); ++i) rows.push_back({&ranges, i, thread});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.range().time.begin < b.range().time.begin; });

  Table table({integers("Start", Unit::kNanoseconds), integers("End", Unit::kNanoseconds), integers("Duration", Unit::kNanoseconds),
               integers("DurChild", Unit::kNanoseconds), integers("DurNonChild", Unit::kNanoseconds), texts("Name"), identifiers("PID"), identifiers("TID"),
               integers("Lvl"), integers("NumChild"), identifiers("RangeId"), identifiers("ParentId"), texts("RangeStack"), texts("NameTree")});
  RangeStacks stacks(rows.size());
  for (const Row& row : rows) {
    const NvtxRange& range = row.range();
    const Thread& thread = trace.threads()[row.thread];
    const std::string name = range_name(trace, thread.process, range.domain, range.name);
    const std::string indent = stacks.indent(range.level);
    table.add_row(range.time.begin, range.time.end, range.time.length(), range.children_time, range.time.length() - range.children_time, table.add_text(name),
                  std::int64_t{trace.processes()[thread.process].pid}, std::int64_t{thread.tid}, range.level, range.children, range.id,
                  parent_id(*row.ranges, row.index), table.add_text(stacks.ids(*row.ranges, row.index)), table.add_text(indent + name));
  }
  add_runs(trace, table, [&](std::size_t row) { return trace.threads()[rows[row].thread].process; });
  return table;
}

}  // namespace lanescope::stats
