// Decides which launches are measured, and names those that are left out.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/kernel_counters/choice/launch.h"
#include "agent/kernel_counters/state.h"

namespace lanescope::agent::kernel_counters {

// True if a graph is being captured, by the program or in the launch's stream.
[[nodiscard]] bool is_captured(const Launch& launch) noexcept;
// A launch during a stream capture, into the graph or beside it, is not measured, because nothing may wait then. It does not count as a launch of its kind.
void name_captured(const Launch& launch) noexcept;
// Kernels of a graph are not measured individually.
void name_graph(const Launch& launch) noexcept;
// The launch's entry, which keeps its address, if the launch was asked for; otherwise null.
[[nodiscard]] LaunchEntry* choose(const Launch& launch) noexcept;
// Reports once for each kernel and shape why a launch was not measured. Locks the table.
void leave_out(LaunchEntry& entry, const Launch& launch, std::string_view reason) noexcept;

// For the present measurements of the entry: the group to which they belong, and the next set; null if there is none, or if none can be measured any more.
[[nodiscard]] std::uint32_t group_of(LaunchEntry& entry) noexcept;
[[nodiscard]] const Set* choose_set(const ContextCounters& counters, const LaunchEntry& entry) noexcept;
// Call when the set was measured. After the last set of a group the next group is due, if only some launches are measured: there are two groups.
void advance(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept;

}  // namespace lanescope::agent::kernel_counters
