// GPU work of a process that repeats, found from the work itself: for programs whose iterations no range marks.
#pragma once

#include <optional>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::analysis {

// A kernel or graph that occurs once in each period.
struct RepeatingWork {
  NameId marker = 0;
  std::vector<EventRef> occurrences;  // by start
  std::size_t warm_up = 0;            // the first of them whose intervals are longer than one and a half times the median; at most a fourth of all
  Nanoseconds begin = 0;              // start of the first after warm-up
};

// The kernels and graphs that come at regular times: five times or more, with four in five of their intervals within two thirds and one and a half
// times their median. Four fifths of the process's GPU work, by number or by time, must come after their first occurrence, and their occurrences must
// spread over a tenth of that work. The earliest comes first. O(GPU operations).
[[nodiscard]] std::vector<RepeatingWork> find_repeating_work(const Trace& trace, ProcessId process);

}  // namespace lanescope::analysis
