// Ranks that keep the others waiting beyond chance: internal to rules.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loop/loop_work.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// A time of each rank in each step: the waiting of other ranks that originated from it, or its computation.
struct TimeBySteps {
  std::size_t ranks = 0;
  std::vector<Nanoseconds> times;  // those of a step, one a rank, followed by those of the next step
  [[nodiscard]] std::size_t steps() const noexcept { return ranks == 0 ? 0 : times.size() / ranks; }
  [[nodiscard]] Nanoseconds of(std::size_t rank) const noexcept;  // sum over all steps. O(steps)
};

// For these ranks of a program, by their positions in it. Steps are those of its loop, put together so that there are at most kMostSteps; if none
// are marked, slices of time.
inline constexpr std::size_t kMostSteps = 50;
inline constexpr std::size_t kSlices = 20;
[[nodiscard]] TimeBySteps waiting_by_steps(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, std::span<const std::size_t> ranks);

// How long their GPUs computed; empty if no steps are marked. O(GPU work).
[[nodiscard]] TimeBySteps computing_by_steps(const Trace& trace, const LoopWork& work, const RanksOfProgram& program, std::span<const std::size_t> ranks);

// The ranks that have more time than by chance: those above the largest gap between the time of a rank and that of the next, then the same among the
// rest. A chance influence may last for several steps, in which the same rank has most. So steps are combined into stretches, for as long as they are
// alike, and as long as enough stretches are left to tell. Ranks stand out at `level` if both tests say that a spread of their totals as large as this
// is unlikely: exchanging the times of ranks within each stretch (a permutation test), and the differences between the stretches of each rank (analysis
// of variance). So among equal ranks, however much their work varies, any is named about as often as `level` says. Empty if there are too few stretches
// to tell: two ranks need eight, four ranks five. At most kMostLatecomers, the one with most time first. The result is the same each time.
inline constexpr std::size_t kMostLatecomers = 8;
[[nodiscard]] std::vector<std::size_t> ranks_that_stand_out(const TimeBySteps& time, double level = 0.01);

}  // namespace lanescope::analysis
