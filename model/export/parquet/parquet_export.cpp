#include "../tables/trace_tables.h"
#include "model/trace/segments/demanded_segments.h"
#include "table_folder.h"

namespace lanescope {

Result<void> export_parquet(const Trace& trace, const std::filesystem::path& folder, Overwrite overwrite, const TableOptions& options) {
  exporters::TableFolder target(folder, overwrite);
  if (auto made = target.make(); !made) return made;
  Result<void> written = exporters::write_tables(trace, options, target);
  if (written) written = check_all_was_read(trace);
  if (written) written = target.finish();
  return written ? written : target.give_up(written.error());
}

}  // namespace lanescope
