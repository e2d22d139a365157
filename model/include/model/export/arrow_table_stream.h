// Tables of docs/tables.md as streams of Arrow's C interface, for programs that read them without a copy in their own process.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lanescope/arrow_c_data.h"
#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope {

// Names of all tables, including tables that have no rows in a trace.
[[nodiscard]] std::vector<std::string> table_names();

// Fills `stream`: a batch is one struct of at most 65,536 rows, sorted by start. Texts are dictionaries; each batch has its own. The stream keeps the trace
// and makes batches on its own thread while it is read, at most two ahead. One thread at a time may read it. Memory: three batches and 8 bytes for each name.
// Fails with one sentence of kind kUsage if there is no such table. Later failures are reported by get_last_error().
Result<void> open_arrow_stream(std::shared_ptr<const Trace> trace, std::string_view table, ArrowArrayStream& stream);

}  // namespace lanescope
