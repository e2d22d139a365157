#include "../tables/trace_tables.h"
#include "arrow_stream.h"

namespace lanescope {

Result<void> export_arrow(const Trace& trace, const TextConsumer& write, const TableOptions& options) {
  exporters::ArrowStreams target(write);
  return exporters::write_tables(trace, options, target);
}

}  // namespace lanescope
