// Kernels by the NVTX ranges around their launch. A kernel counts in every range that encloses it.
#include <algorithm>

#include "../columns/kernel_names.h"
#include "../columns/run_column.h"
#include "../in_parts.h"
#include "../label_groups.h"
#include "../ranges/call_ranges.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

constexpr std::uint32_t kNoDomain = kNone;

struct RangeAndKernel {
  Samples durations;
  std::vector<std::int64_t> ranges;  // ids, some more than once

  void add(RangeAndKernel&& other) {
    durations.append(std::move(other.durations));
    ranges.insert(ranges.end(), other.ranges.begin(), other.ranges.end());
  }
  [[nodiscard]] std::int64_t distinct_ranges() {
    std::sort(ranges.begin(), ranges.end());
    return std::unique(ranges.begin(), ranges.end()) - ranges.begin();
  }
};
// By thread, domain, kind of range, range, kernel. Kernels without a range have only a thread; those without a launch in the trace not even that.
using Groups = GroupsByIds<5, RangeAndKernel>;
constexpr std::uint32_t kNoStyle = 0;

Groups group_kernels(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const LaunchIndex& index = selection.launch_index();
  const CallRanges ranges(selection);
  const auto add = [&](Groups& groups, const Track& track, const EventView& kernel) {
    const NameId name = kernel_name(trace, kernel, options.kernel_names);
    const EventRef call = index.find(track.key.process, kernel.correlation(), kernel.start());
    const ThreadId thread = call.valid() ? trace.track_of(call.lane).key.thread : kNone;
    const auto around = ranges.around(call);
    if (around.empty()) groups[{thread, kNoDomain, kNoStyle, 0, name}].durations.push_back(kernel.duration());
    for (const NvtxRange* range : around) {
      RangeAndKernel& group = groups[{thread, range->domain, static_cast<std::uint32_t>(range->kind), range->name, name}];
      group.durations.push_back(kernel.duration());
      if (group.ranges.empty() || group.ranges.back() != range->id) group.ranges.push_back(range->id);
    }
  };
  std::vector<Groups> parts = visit_in_parts(selection, TrackKind::kKernels, Groups(), add);
  for (std::size_t i = 1; i < parts.size(); ++i)
    for (auto& [key, group] : parts[i]) parts.front()[key].add(std::move(group));
  return std::move(parts.front());
}

}  // namespace

Table nvtx_kern_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  Groups groups = group_kernels(selection, options);

  struct Row {
    std::string range, style;
    ProcessId process;
    std::int64_t pid, tid, ranges;
    Summary summary;
    NameId kernel;
  };
  std::vector<Row> rows;
  for (auto& [key, group] : groups) {
    const auto [thread_id, domain, style, range, kernel] = key;
    Row row{"", "", kNone, kNoInteger, kNoInteger, group.distinct_ranges(), summarize(group.durations, options.percentiles), kernel};
    if (thread_id != kNone) {
      const Thread& thread = trace.threads()[thread_id];
      row.process = thread.process;
      row.pid = trace.processes()[thread.process].pid;
      row.tid = thread.tid;
      if (domain != kNoDomain) {
        row.range = range_name(trace, thread.process, domain, range);
        row.style = style_name(static_cast<TrackKind>(style));
      }
    }
    rows.push_back(std::move(row));
  }
  // Numbers of names depend on the file, so equal rows are ordered by the names of their kernels.
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto kernel_of_a = trace.name(a.kernel), kernel_of_b = trace.name(b.kernel);
    return std::tie(a.range, a.style, a.pid, a.tid, a.process, b.summary.total, kernel_of_a) <
           std::tie(b.range, b.style, b.pid, b.tid, b.process, a.summary.total, kernel_of_b);
  });

  std::vector<Column> columns = {texts("NVTX Range"),
                                 texts("Style"),
                                 identifiers("PID"),
                                 identifiers("TID"),
                                 integers("NVTX Inst"),
                                 integers("Kern Inst"),
                                 integers("Total Time", Unit::kNanoseconds)};
  append_summary_columns(columns, "", Unit::kNanoseconds, options.percentiles);
  columns.push_back(texts("Kernel Name"));
  Table table(std::move(columns));
  for (Row& row : rows) {
    const Summary& s = row.summary;
    std::vector<Cell> cells = {table.add_text(std::move(row.range)), table.add_text(std::move(row.style)), row.pid, row.tid, row.ranges, s.count, s.total};
    append_summary_cells(cells, s, options.percentiles);
    cells.emplace_back(table.add_text(std::string(trace.name(row.kernel))));
    table.add_cells(cells);
  }
  add_origins(trace, table, [&](std::size_t row) { return rows[row].process; });
  return table;
}

}  // namespace lanescope::stats
