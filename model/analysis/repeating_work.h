// From when on the GPU work of a process repeats, told by the work itself: for programs whose iterations no range marks.
#pragma once

#include <optional>

#include "model/trace/trace.h"

namespace lanescope::analysis {

struct RepeatingWork {
  NameId marker = 0;       // a kernel or graph that comes once in each period
  Nanoseconds begin = 0;   // of its first occurrence behind warm-up
  Nanoseconds period = 0;  // median
};

// Of the kernels and graphs that come at regular times (five times or more, four in five of their intervals within two thirds and one and a
// half times their median), the one behind whose first occurrence most of the process's GPU work lies, if that is four fifths of it or
// more. Warm-up: the first occurrences, while their intervals are longer than one and a half times the median, at most a fourth of all.
// O(GPU operations).
[[nodiscard]] std::optional<RepeatingWork> find_repeating_work(const Trace& trace, ProcessId process);

}  // namespace lanescope::analysis
