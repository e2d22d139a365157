// nvtx_gpu_proj_sum, nvtx_gpu_proj_trace: NVTX ranges projected onto the GPU.
#include <algorithm>

#include "../columns/run_column.h"
#include "../label_groups.h"
#include "../ranges/nvtx_projections.h"
#include "../ranges/range_stack.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

std::string name_of(const Trace& trace, const Projection& projection) {
  return range_name(trace, trace.threads()[projection.thread].process, projection.range().domain, projection.range().name);
}

}  // namespace

Table nvtx_gpu_proj_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  const CallRanges ranges(selection);
  std::vector<Projection> projections = project(selection, ranges);
  std::stable_sort(projections.begin(), projections.end(), [](const Projection& a, const Projection& b) { return a.projected.begin < b.projected.begin; });

  Table table({texts("Name"), integers("Projected Start", Unit::kNanoseconds), integers("Projected Duration", Unit::kNanoseconds),
               integers("Orig Start", Unit::kNanoseconds), integers("Orig Duration", Unit::kNanoseconds), texts("Style"), identifiers("PID"),
               identifiers("TID"), integers("NumGPUOps"), integers("Lvl"), integers("NumChild"), identifiers("RangeId"), identifiers("ParentId"),
               texts("RangeStack")});
  RangeStacks stacks(projections.size());
  for (const Projection& p : projections) {
    const NvtxRange& range = p.range();
    const Thread& thread = trace.threads()[p.thread];
    table.add_row(table.add_text(name_of(trace, p)), p.projected.begin, p.projected.length(), range.time.begin, range.time.length(),
                  table.add_text(std::string(style_name(range.kind))), std::int64_t{trace.processes()[thread.process].pid}, std::int64_t{thread.tid},
                  p.operations, std::int64_t{range.level}, p.children, range.id, parent_id(*p.ranges, p.index), table.add_text(stacks.ids(*p.ranges, p.index)));
  }
  add_origins(trace, table, [&](std::size_t row) { return trace.threads()[projections[row].thread].process; });
  return table;
}

Table nvtx_gpu_proj_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  struct Group {
    Samples projected;
    std::int64_t original = 0, operations = 0, levels = 0, children = 0;
  };
  const CallRanges ranges(selection);
  GroupsByIds<4, Group> by_ids;
  for (const Projection& p : project(selection, ranges)) {
    const NvtxRange& range = p.range();
    Group& group = by_ids[{trace.threads()[p.thread].process, range.domain, range.name, static_cast<std::uint32_t>(range.kind)}];
    group.projected.push_back(p.projected.length());
    group.original += range.time.length();
    group.operations += p.operations;
    group.levels += range.level;
    group.children += p.children;
  }
  // Ranges of several processes are grouped by their name.
  std::map<std::pair<std::string, TrackKind>, Group> groups;
  for (auto& [ids, of_ids] : by_ids) {
    Group& group = groups[{range_name(trace, ids[0], ids[1], ids[2]), static_cast<TrackKind>(ids[3])}];
    group.projected.append(std::move(of_ids.projected));
    group.original += of_ids.original;
    group.operations += of_ids.operations;
    group.levels += of_ids.levels;
    group.children += of_ids.children;
  }
  struct Row {
    const std::pair<std::string, TrackKind>* key;
    const Group* group;
    Summary summary;
  };
  std::vector<Row> rows;
  for (auto& [key, group] : groups) rows.push_back({&key, &group, summarize(group.projected, options.percentiles)});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.summary.total > b.summary.total; });

  std::vector<Column> columns = {texts("Range"), texts("Style"), integers("Total Proj Time", Unit::kNanoseconds),
                                 integers("Total Range Time", Unit::kNanoseconds), integers("Range Instances")};
  append_summary_columns(columns, "Proj ", Unit::kNanoseconds, options.percentiles);
  for (Column column : {integers("Total GPU Ops"), reals("Avg GPU Ops"), reals("Avg Range Lvl"), reals("Avg Num Child")}) columns.push_back(std::move(column));
  Table table(std::move(columns));
  for (const auto& [key, group, s] : rows) {
    const auto average = [&, count = s.count](std::int64_t total) { return static_cast<double>(total) / static_cast<double>(count); };
    std::vector<Cell> cells = {table.add_text(key->first), table.add_text(std::string(style_name(key->second))), s.total, group->original, s.count};
    append_summary_cells(cells, s, options.percentiles);
    cells.insert(cells.end(), {group->operations, average(group->operations), average(group->levels), average(group->children)});
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
