#include "model/analysis/findings_table.h"

#include "wording.h"

namespace lanescope::analysis {

stats::Table findings_table(const Trace& trace, std::span<const Finding> findings) {
  stats::Table table({stats::integers("Cost", stats::Unit::kNanoseconds), stats::integers("Start", stats::Unit::kNanoseconds),
                      stats::integers("End", stats::Unit::kNanoseconds), stats::integers("GPU"), stats::integers("PID"), stats::integers("TID"),
                      stats::texts("Rule"), stats::texts("Key"), stats::texts("When"), stats::texts("Finding"), stats::texts("Seen"), stats::texts("Advice"),
                      stats::texts("Line"), stats::integers("Hidden", stats::Unit::kNanoseconds)});
  const PartsOfGpus parts(trace);
  stats::Texts files;
  for (const Finding& finding : findings) {
    const Place& place = finding.place;
    const bool has_time = !place.range.empty();
    table.add_row(finding.cost > 0 ? finding.cost : stats::kNoInteger, has_time ? place.range.begin : stats::kNoInteger,
                  has_time ? place.range.end : stats::kNoInteger, place.gpu == kNone ? stats::kNoInteger : std::int64_t{trace.gpus()[place.gpu].ordinal},
                  place.process == kNone ? stats::kNoInteger : std::int64_t{trace.processes()[place.process].pid},
                  place.thread == kNone ? stats::kNoInteger : std::int64_t{trace.threads()[place.thread].tid}, table.add_text(std::string(finding.rule)),
                  table.add_text(finding.key), table.add_text(finding.recurrence == Recurrence::kOnce ? "once" : ""), table.add_text(finding.title),
                  table.add_text(finding.seen), table.add_text(finding.advice), table.add_text(place.line), finding.hidden);
    files.push_back(table.add_text(place.gpu != kNone       ? file_of_gpu(parts, place.gpu)
                                   : place.process != kNone ? file_of_process(trace, place.process)
                                                            : std::string()));
  }
  // Processes and GPUs of several files may have the same numbers.
  if (!trace.parts().empty()) table.insert_column(table.columns().size(), {"File", stats::Unit::kNone, std::move(files)});
  return table;
}

}  // namespace lanescope::analysis
