// The NVTX range in which kernels are measured, where the recording names one: whether such a range is open in the process, on whichever thread.
//
// Any thread. In a forked child ranges that were open before stay open: nobody there knows their ends.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope::agent::nvtx {

// Takes the name from the environment (channel::kKernelRangeVariable). Before ranges begin; any number of times, no two at once.
void read_included_range() noexcept;

// A range begins, and one ends. `key` is not 0 and tells it from all others that are open in the process. One load where none is named.
void begin_included(std::uint32_t domain, std::string_view text, std::uint64_t key) noexcept;
void end_included(std::uint64_t key) noexcept;

// cudaProfilerStart returned, where its range is the named one (channel::kProfilerRange); it ends by end_included().
void begin_profiler_range(std::uint64_t key) noexcept;

// Whether one is open, or none is named. Two loads at most.
[[nodiscard]] bool is_included() noexcept;

// How often one began while none was open.
[[nodiscard]] std::uint32_t times_included() noexcept;

// Called behind the end of the last that was open, on its thread. Null: nothing is. Set once, before ranges begin.
void at_end_of_included(void (*call)() noexcept) noexcept;

// "[DOMAIN@]TEXT"; empty where none is named.
[[nodiscard]] std::string_view included_name() noexcept;

}  // namespace lanescope::agent::nvtx
