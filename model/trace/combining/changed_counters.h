// Counters as a combined trace has them. Internal to model/trace.
#pragma once

#include <memory>

#include "model/trace/combining/clock_line.h"
#include "model/trace/counter.h"
#include "model/trace/segments/demanded_counters.h"

namespace lanescope {

// Counters of another trace, whose values are decoded there when they are needed here. If the clock drifts, times get longer or shorter, so all values are
// decoded once for the summaries; those of values that can't be read are empty.
[[nodiscard]] std::shared_ptr<const DemandedCounters> changed(const DemandedCounters& from, const ClockLine& clock);

// A series whose values are in memory. Where no sample has one that follows, its value lasts for a nanosecond at least.
[[nodiscard]] CounterSeries changed_in_memory(const CounterSeries& series, const ClockLine& clock);

}  // namespace lanescope
