// Changes in the hardware counters of kernels from some runs of a program to others, and which of them are more than noise.
//
// Kernels correspond if they have a name and a shape in common. A kernel that has one shape before and one other shape now is compared with what it was
// before. Each measured launch is a sample: one sample a side is not enough to tell a change from noise.
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
  std::size_t run = 0;  // index in the runs of the side
  EventRef event;       // in that run; invalid if it has no such kernel on its timeline
};

struct CounterChange {
  std::string kernel;
  std::string grid, block;  // "128 1024 1", or "128 1024 1 -> 256 512 1" if it has another shape in the second runs; empty if not known
  std::string_view what;    // one of compared_metrics()
  kernels::ValueUnit unit = kernels::ValueUnit::kNumber;
  double first = 0;  // means of the measured launches
  double second = 0;
  std::size_t first_launches = 0;
  std::size_t second_launches = 0;
  MeasuredLaunchPlace first_place, second_place;
  double change = 0;      // percent of the first; NaN if that is 0
  double change_low = 0;  // the interval in which the change lies; NaN if unknown
  double change_high = 0;
  DiffVerdict verdict = DiffVerdict::kSame;  // kSame, kMore, kLess or kUnsure

  [[nodiscard]] bool is_from_nothing() const noexcept { return first == 0 && second > 0; }
};
// The kernels whose launches take most time in the first runs come first. O(kernels of the traces). When asked to stop, it ends soon, with a result
// that is of no use.
[[nodiscard]] std::vector<CounterChange> compare_counters(Runs first, Runs second, const std::stop_token& stop = {});

// Kernels that were measured on one side only, or with shapes that can't be paired: their metrics are not compared. Each name once, in order; as costly
// as compare_counters().
[[nodiscard]] std::vector<std::string> unpaired_kernels(Runs first, Runs second);

// The metrics of a kernel that are compared, in this order: "Duration", "DRAM throughput".
[[nodiscard]] std::span<const std::string_view> compared_metrics() noexcept;

// True if a person should see it: it changed, or it may have. With one launch a side nothing is certain, and a twentieth is worth a look.
[[nodiscard]] bool is_worth_a_look(const CounterChange& change) noexcept;

}  // namespace lanescope::analysis
