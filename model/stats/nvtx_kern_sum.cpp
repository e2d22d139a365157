// Kernels by the NVTX ranges around their launch. A kernel counts in every range that encloses it.
#include <algorithm>

#include "kernel_names.h"
#include "label_groups.h"
#include "launches.h"
#include "nvtx_ranges.h"
#include "report_functions.h"

namespace lanescope::stats {
namespace {

constexpr std::uint32_t kNoDomain = kNone;

struct Group {
  Samples durations;
  std::vector<std::int64_t> ranges;  // ids, some more than once

  [[nodiscard]] std::int64_t distinct_ranges() {
    std::sort(ranges.begin(), ranges.end());
    return std::unique(ranges.begin(), ranges.end()) - ranges.begin();
  }
};
// By thread, domain, kind of range, range, kernel. Kernels without a range have a thread alone; those without a launch in the trace not
// even that.
using Groups = GroupsByIds<5, Group>;
constexpr std::uint32_t kNoStyle = 0;

NameId name_of(const Trace& trace, EventRef kernel, const ReportOptions& options) {
  const Lane& lane = trace.lane(kernel.lane);
  return kernel_name(trace, lane.name(kernel.index), lane.detail(kernel.index), options.kernel_names);
}

void add_launched(const Selection& selection, const ReportOptions& options, Groups& groups, std::vector<std::vector<bool>>& launched) {
  const Trace& trace = selection.trace();
  const auto ranges = ranges_by_thread(selection, RangeKinds::kAll);
  for (const auto& [thread, launches] : launches_by_thread(selection, {TrackKind::kKernels})) {
    const auto found = ranges.find(thread);
    EnclosingRanges enclosing(found == ranges.end() ? std::span<const NvtxRange>{} : std::span<const NvtxRange>{found->second});
    for (const Launch& launch : launches) {
      launched[launch.operation.lane][launch.operation.index] = true;
      const NameId kernel = name_of(trace, launch.operation, options);
      const Nanoseconds duration = trace.lane(launch.operation.lane).duration(launch.operation.index);
      const auto around = enclosing.around(time_of(trace, launch.call));
      if (around.empty()) groups[{thread, kNoDomain, kNoStyle, 0, kernel}].durations.push_back(duration);
      for (const std::size_t i : around) {
        const NvtxRange& range = found->second[i];
        Group& group = groups[{thread, range.domain, static_cast<std::uint32_t>(range.kind), range.name, kernel}];
        group.durations.push_back(duration);
        if (group.ranges.empty() || group.ranges.back() != range.id) group.ranges.push_back(range.id);
      }
    }
  }
}

}  // namespace

Table nvtx_kern_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  Groups groups;
  std::vector<std::vector<bool>> launched(trace.lanes().size());  // by lane and index, for lanes of kernels
  selection.for_each_lane(TrackKind::kKernels, [&](const Track&, LaneId lane) { launched[lane].resize(trace.lane(lane).size()); });
  add_launched(selection, options, groups, launched);
  selection.for_each(TrackKind::kKernels, [&](const Track&, const EventView& kernel) {
    if (!launched[kernel.ref.lane][kernel.ref.index])
      groups[{kNone, kNoDomain, kNoStyle, 0, kernel_name(trace, kernel, options.kernel_names)}].durations.push_back(kernel.duration());
  });

  struct Row {
    std::string range, style;
    std::int64_t pid, tid, ranges;
    Summary summary;
    NameId kernel;
  };
  std::vector<Row> rows;
  for (auto& [key, group] : groups) {
    const auto [thread_id, domain, style, range, kernel] = key;
    Row row{"", "", kNoInteger, kNoInteger, group.distinct_ranges(), summarize(group.durations, options.percentiles), kernel};
    if (thread_id != kNone) {
      const Thread& thread = trace.threads()[thread_id];
      row.pid = trace.processes()[thread.process].pid;
      row.tid = thread.tid;
      if (domain != kNoDomain) {
        row.range = range_name(trace, thread.process, domain, range);
        row.style = style_name(static_cast<TrackKind>(style));
      }
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.range, a.style, a.pid, a.tid, b.summary.total) < std::tie(b.range, b.style, b.pid, b.tid, a.summary.total);
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
    std::vector<Cell> cells = {
        table.add_text(std::move(row.range)), table.add_text(std::move(row.style)), row.pid, row.tid, row.ranges, s.count, s.total};
    append_summary_cells(cells, s, options.percentiles);
    cells.emplace_back(table.add_text(std::string(trace.name(row.kernel))));
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
