// Sizes of copies and sets.
#include <algorithm>

#include "label_groups.h"
#include "report_functions.h"

namespace lanescope::stats {

Table cuda_gpu_mem_size_sum(const Selection& selection, const ReportOptions&) {
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
  samples.for_each([&](NameId name, Samples sizes) { rows.push_back({summarize(sizes), name}); });
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.summary.total != b.summary.total ? a.summary.total > b.summary.total : a.summary.count > b.summary.count;
  });

  Table table({integers("Total", Unit::kBytes), integers("Count"), reals("Avg", Unit::kBytes), reals("Med", Unit::kBytes),
               integers("Min", Unit::kBytes), integers("Max", Unit::kBytes), reals("StdDev", Unit::kBytes), texts("Operation")});
  for (const auto& [s, name] : rows)
    table.add_row(s.total, s.count, s.average, s.median, s.minimum, s.maximum, s.deviation, table.add_text(std::string(trace.name(name))));
  return table;
}

}  // namespace lanescope::stats
