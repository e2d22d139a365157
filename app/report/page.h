// One page about a trace, for those who have no viewer at hand: what it is, what costs time and where, and the usual tables, as HTML in one
// file that needs nothing else, no network and no script.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope::report {

struct PageOptions {
  std::string file;             // that holds the trace, as commands on the page name it
  std::size_t findings = 10;    // at most so many
  std::size_t table_rows = 12;  // of each table
};

// Passes the page on in pieces until the consumer refuses one. Returns whether all was written; an error where the trace could not be judged.
// Whatever the trace calls its things is text on the page. O(what the rules take), and O(rows · width) for each picture.
using TextConsumer = std::function<bool(std::string_view)>;
[[nodiscard]] Result<bool> write_page(const std::shared_ptr<const Trace>& trace, const PageOptions& options, const TextConsumer& write);

// The timeline of the page alone, as one element <svg>, for notebooks and papers; empty where the trace has no rows.
[[nodiscard]] std::string timeline_svg(const std::shared_ptr<const Trace>& trace);

}  // namespace lanescope::report
