// A critical path as text for people, and as tables for programs.
#pragma once

#include <string>

#include "model/analysis/threads/critical_path.h"
#include "model/stats/table.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// One row a part, in order of time; times are ns since the recording began. A part of a GPU names it, and the rank of its process; other parts their
// thread. O(parts).
[[nodiscard]] stats::Table path_table(const Trace& trace, const CriticalPath& path);

// One row for each sum (path_sums()), the longest time first. O(parts · log parts).
[[nodiscard]] stats::Table path_sums_table(const Trace& trace, const CriticalPath& path);

// The same for people, without the heading: the sums that take most, then the longest parts in order of time, and for what is left out how many there are
// and how long they took together. Each line ends with a line break.
[[nodiscard]] std::string path_text(const Trace& trace, const CriticalPath& path, const Language& language);

}  // namespace lanescope::analysis
