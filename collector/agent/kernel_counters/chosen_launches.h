// Which launches are measured, and which are left out and named.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/kernel_counters/launch.h"
#include "agent/kernel_counters/state.h"

namespace lanescope::agent::kernel_counters {

// Whether a graph is being captured, by the program or in the launch's stream.
[[nodiscard]] bool is_captured(const Launch& launch) noexcept;
// One that is launched while a stream is captured, into the graph or beside it, is not measured: nothing may wait then. It does not count as a launch of its
// kind.
void name_captured(const Launch& launch) noexcept;
// Kernels of a graph are not measured one by one.
void name_graph(const Launch& launch) noexcept;
// Whether this launch is one of those that were asked for: its entry, which stays where it is, or null.
[[nodiscard]] LaunchEntry* choose(const Launch& launch) noexcept;
// Says once of the kernel and shape why a launch was not measured. Locks the table.
void leave_out(LaunchEntry& entry, const Launch& launch, std::string_view reason) noexcept;

// Of the entry's measurements now: the group to which they belong, and the next set; null where there is none, or it is not to be had any more.
[[nodiscard]] std::uint32_t group_of(LaunchEntry& entry) noexcept;
[[nodiscard]] const Set* choose_set(const ContextCounters& counters, const LaunchEntry& entry) noexcept;
// The set is measured. Behind the last set of a group the next group is due, where only some launches are measured: there are two.
void advance(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept;

}  // namespace lanescope::agent::kernel_counters
