// Tables of docs/tables.md as streams of Arrow's C interface, for programs that read them in their own process, uncopied.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lanescope/arrow_c_data.h"
#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope {

// Names of all tables, whether a trace has rows for them or not.
[[nodiscard]] std::vector<std::string> table_names();

// Fills `stream`: one struct a batch, of 65,536 rows at most, sorted by start; texts are dictionaries, of which each batch brings its own. The stream keeps
// the trace, makes batches on a thread of its own while it is read, two ahead at most, and is read by one thread at a time. Memory: that of three
// batches, and 8 bytes a name. Fails with one sentence, of kind kUsage, where there is no such table; what fails later, get_last_error() says.
Result<void> open_arrow_stream(std::shared_ptr<const Trace> trace, std::string_view table, ArrowArrayStream& stream);

}  // namespace lanescope
