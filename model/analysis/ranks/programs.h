// The programs of a trace: which of its ranks belong together, so that they may wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/analysis/loop/loop.h"
#include "model/trace/trace.h"
#include "rank_waits.h"
#include "rank_work.h"

namespace lanescope::analysis {

// The ranks of one program: those whose processes have iterations of the same family, or none, at the same time.
struct RanksOfProgram {
  FamilyId family = 0;             // of its iterations; 0 if only its GPU work identifies its loop, or if no loop is known
  std::vector<std::size_t> ranks;  // their numbers among all ranks, in ascending order
  RankWaits waits;                 // how they waited for each other, by their positions in `ranks`
  std::int64_t number = 0;         // by which tables tell programs apart: from 1, in the order of LoopWork::programs()
};

// Groups ranks by program, without their waits and numbers. If two processes have the same rank in their jobs, a program is what one process started, so that
// two jobs that run side by side are told apart. If no process has a rank, a program is what one process started, together with the ranks that it communicates
// with. Processes that take no part in the loop belong to no program; if the loop is not known, all ranks that may meet are of one. The program whose
// iterations cover most time comes first. O(n log n) of ranks and, if none has a rank, of their communication kernels.
[[nodiscard]] std::vector<RanksOfProgram> find_programs(const Trace& trace, const Loop& loop, std::span<const RankWork> ranks);

}  // namespace lanescope::analysis
