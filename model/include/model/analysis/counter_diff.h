// What changed in the hardware counters of kernels from some runs of a program to others, and what of that is more than noise.
//
// Kernels are the same that have a name and a shape in common; one that has one other shape now is compared with what it was before. Each
// launch that was measured is a sample: with one a side nothing can be told from noise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/trace_diff.h"

namespace lanescope::analysis {

struct CounterChange {
  std::string kernel;
  std::string_view what;  // "DRAM throughput"
  std::string_view unit;  // "%", "ns"; empty: a number
  double first = 0;       // means of the measured launches
  double second = 0;
  std::size_t first_launches = 0;
  std::size_t second_launches = 0;
  double change = 0;      // percent of the first; NaN where that is 0
  double change_low = 0;  // the interval that the change lies in; NaN where it can't be told
  double change_high = 0;
  DiffVerdict verdict = DiffVerdict::kSame;  // kSame, kMore, kLess or kUnsure
};
// Those kernels first whose launches take most time in the first runs. O(kernels of the traces).
[[nodiscard]] std::vector<CounterChange> compare_counters(Runs first, Runs second);

}  // namespace lanescope::analysis
