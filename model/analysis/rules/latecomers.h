// Which ranks keep the others waiting, where that is no chance: internal to rules.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loop/loop_work.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// What each rank has in each step: waiting of the others that began with it, or computation.
struct TimeBySteps {
  std::size_t ranks = 0;
  std::vector<Nanoseconds> times;  // of a step, one a rank, and then of the next
  [[nodiscard]] std::size_t steps() const noexcept { return ranks == 0 ? 0 : times.size() / ranks; }
  [[nodiscard]] Nanoseconds of(std::size_t rank) const noexcept;  // in all. O(steps)
};

// Of these ranks of the loop's work, by their numbers there. Steps are those of the loop, as many together as kMostSteps allows; where none are marked, slices
// of time.
inline constexpr std::size_t kMostSteps = 50;
inline constexpr std::size_t kSlices = 20;
[[nodiscard]] TimeBySteps waiting_by_steps(const Trace& trace, const LoopWork& work, std::span<const std::size_t> ranks);

// How long their GPUs computed; nothing where no steps are marked. O(GPU work).
[[nodiscard]] TimeBySteps computing_by_steps(const Trace& trace, const LoopWork& work, std::span<const std::size_t> ranks);

// The ranks that have more than they would by chance: those above the largest gap between what one has and the next, then the same among the rest. Chance may
// last for several steps, in which the same rank has most; so steps are put together in stretches for as long as they are alike, and as enough stretches are
// left to tell. Ranks stand out at `level` where their totals would spread as much neither if in each stretch what one rank has had been another's (a
// permutation test), nor by what the stretches of each differ by (analysis of variance): of equal ranks, however much their work varies, any is named about as
// often as that. None where there are too few stretches to tell: of two ranks eight, of four five. At most kMostLatecomers, the one with most first. The same
// answer each time.
inline constexpr std::size_t kMostLatecomers = 8;
[[nodiscard]] std::vector<std::size_t> ranks_that_stand_out(const TimeBySteps& time, double level = 0.01);

}  // namespace lanescope::analysis
