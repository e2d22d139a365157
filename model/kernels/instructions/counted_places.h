// Counts at each place of code. Internal to model/kernels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "code/code_lines.h"
#include "model/kernels/instructions/instruction_counts.h"

namespace lanescope::kernels {

using CountedPlaces = std::map<std::pair<GpuFunctionId, std::uint32_t>, Counts>;  // by function and pc
// By kernel, a place is a whole function: pc is 0. With `time`, launches count whose kernels overlap it.
[[nodiscard]] CountedPlaces counted_places(const Trace& trace, SumBy by, const std::optional<TimeRange>& time);
// The number of counted launches of each kernel, by process and name.
[[nodiscard]] std::map<std::pair<ProcessId, NameId>, std::uint64_t> counted_launches(const Trace& trace, const std::optional<TimeRange>& time);
// Functions of one code file follow each other, so that it is read once.
[[nodiscard]] std::vector<CountedPlaces::const_iterator> in_order_of_code(const CountedPlaces& places, const CodeLines& code);

}  // namespace lanescope::kernels
