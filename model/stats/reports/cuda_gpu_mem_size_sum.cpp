// Sizes of copies and sets.
#include <algorithm>

#include "../label_groups.h"
#include "../report_functions.h"

namespace lanescope::stats {

Table cuda_gpu_mem_size_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  SamplesByName samples(trace);
  selection.for_each(TrackKind::kMemory, [&](const Track&, const EventView& operation) {
    samples.add(operation.name(), static_cast<std::int64_t>(trace.memory_detail(operation.detail()).bytes));
  });
  struct Row {
    Summary summary;
    NameId name;
  };
  std::vector<Row> rows;
  samples.for_each([&](NameId name, Samples sizes) { rows.push_back({summarize(sizes, options.percentiles), name}); });
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.summary.total != b.summary.total) return a.summary.total > b.summary.total;
    return a.summary.count != b.summary.count ? a.summary.count > b.summary.count : trace.name(a.name) < trace.name(b.name);
  });

  std::vector<Column> columns = {integers("Total", Unit::kBytes), integers("Count")};
  append_summary_columns(columns, "", Unit::kBytes, options.percentiles);
  columns.push_back(texts("Operation"));
  Table table(std::move(columns));
  for (const auto& [summary, name] : rows) {
    std::vector<Cell> cells = {summary.total, summary.count};
    append_summary_cells(cells, summary, options.percentiles);
    cells.emplace_back(table.add_text(std::string(trace.name(name))));
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
