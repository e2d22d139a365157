// What changed in the hardware counters of kernels from some runs of a program to others, and what of that is more than noise.
//
// Kernels are the same that have a name and a shape in common; one that has one other shape now is compared with what it was before. Each
// launch that was measured is a sample: with one a side nothing can be told from noise.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/diff/trace_diff.h"
#include "model/kernels/counters/sections.h"

namespace lanescope::analysis {

// The first launch of a kernel that was measured on a side.
struct MeasuredLaunchPlace {
  std::size_t run = 0;  // of the side
  EventRef event;       // in that run; invalid where it has no such kernel on its timeline
};

struct CounterChange {
  std::string kernel;
  std::string_view what;  // one of compared_metrics()
  kernels::ValueUnit unit = kernels::ValueUnit::kNumber;
  double first = 0;  // means of the measured launches
  double second = 0;
  std::size_t first_launches = 0;
  std::size_t second_launches = 0;
  MeasuredLaunchPlace first_place, second_place;
  double change = 0;      // percent of the first; NaN where that is 0
  double change_low = 0;  // the interval that the change lies in; NaN where it can't be told
  double change_high = 0;
  DiffVerdict verdict = DiffVerdict::kSame;  // kSame, kMore, kLess or kUnsure

  [[nodiscard]] bool is_from_nothing() const noexcept { return first == 0 && second > 0; }
};
// Those kernels first whose launches take most time in the first runs. O(kernels of the traces). When asked to stop, it ends soon, with a
// result that is of no use.
[[nodiscard]] std::vector<CounterChange> compare_counters(Runs first, Runs second, const std::stop_token& stop = {});

// Kernels that were measured on one side alone, or with other shapes than can be paired: nothing is said of their metrics. Each name once, in order;
// as costly as compare_counters().
[[nodiscard]] std::vector<std::string> unpaired_kernels(Runs first, Runs second);

// What is compared of a kernel, in this order: "Duration", "DRAM throughput".
[[nodiscard]] std::span<const std::string_view> compared_metrics() noexcept;

// Whether a person should see it: it changed, or it may have. By one launch a side nothing is sure, and a twentieth is worth a look.
[[nodiscard]] bool is_worth_a_look(const CounterChange& change) noexcept;

}  // namespace lanescope::analysis
