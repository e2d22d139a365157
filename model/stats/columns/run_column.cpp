#include "run_column.h"

namespace lanescope::stats {

Texts runs_of_processes(const Trace& trace, Table& table) {
  Texts runs;
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    const TracePart* const part = part_of_process(trace, process);
    runs.push_back(table.add_text(part == nullptr ? std::string() : part->run));
  }
  return runs;
}

Texts files_of_processes(const Trace& trace, Table& table) {
  Texts files;
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    const TracePart* const part = part_of_process(trace, process);
    files.push_back(table.add_text(part == nullptr ? std::string() : part->label));
  }
  return files;
}

}  // namespace lanescope::stats
