// The tables of the rule gpu_bubbles. Each is ordered, and its last column says the file if there are several.
#pragma once

#include <cstdint>

#include "idle_groups.h"
#include "model/analysis/families.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::analysis::bubbles {

// One row for each GPU, cause, range and call. GPUs that waited together have separate rows, so that the rows of each add up to its idle time. Shares are of
// the idle time of all GPUs in the loop, or outside of it. Only the `rows` rows with most time; all if it is negative.
[[nodiscard]] stats::Table group_table(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, std::int64_t rows);

// One row for each GPU and cause, in the loop and outside of it, the longest first, followed by the gaps below the threshold: the rows of a GPU add up
// to its idle time. Shares are of its idle time in the loop, or outside of it.
[[nodiscard]] stats::Table cause_table(const Trace& trace, const Loop& loop, const IdleGroups& collected);

// One row for each GPU.
[[nodiscard]] stats::Table gpu_table(const Trace& trace, const IdleGroups& collected);

// One row for each stream, with reasons why it was idle.
[[nodiscard]] stats::Table stream_table(const RuleContext& context);

}  // namespace lanescope::analysis::bubbles
