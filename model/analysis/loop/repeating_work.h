// GPU work of a process that repeats, told by the work itself: for programs whose iterations no range marks.
#pragma once

#include <optional>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::analysis {

// A kernel or graph that comes once in each period.
struct RepeatingWork {
  NameId marker = 0;
  std::vector<EventRef> occurrences;  // by start
  std::size_t warm_up = 0;            // the first of them whose intervals are longer than one and a half times the median; a fourth at most
  Nanoseconds begin = 0;              // of the first behind warm-up
};

// The kernels and graphs that come at regular times (five times or more, four in five of their intervals within two thirds and one and a
// half times their median) and behind whose first occurrence four fifths of the process's GPU work lie, by number or by time, and whose occurrences
// spread over a tenth of that; the earliest first. None for traces
// of PyTorch's profiler: it is switched on in the loop, and what repeats there may be layers. O(GPU operations).
[[nodiscard]] std::vector<RepeatingWork> find_repeating_work(const Trace& trace, ProcessId process);

}  // namespace lanescope::analysis
