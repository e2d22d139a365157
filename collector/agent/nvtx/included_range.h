// The NVTX range in which kernels are measured, if the recording names one: whether such a range is open in the process, on any thread.
//
// Any thread. In a forked child, ranges that were open before the fork stay open, because nobody there knows their ends.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope::agent::nvtx {

// Takes the name from the environment (channel::kKernelRangeVariable). Call it before ranges begin; any number of times, but not concurrently.
void read_included_range() noexcept;

// A range begins or ends. `key` is not 0 and differs from the keys of all other open ranges of the process. One load if no range is named.
void begin_included(std::uint32_t domain, std::string_view text, std::uint64_t key) noexcept;
void end_included(std::uint64_t key) noexcept;

// cudaProfilerStart has returned. Counts if the named range is channel::kProfilerRange; that range ends by end_included().
void begin_profiler_range(std::uint64_t key) noexcept;

// True if such a range is open, or if none is named. At most two loads.
[[nodiscard]] bool is_included() noexcept;

// How many times a range began while none was open.
[[nodiscard]] std::uint32_t times_included() noexcept;

// `call` is called when the last open range has ended, on its thread. Null: nothing is called. Set once, before ranges begin.
void at_end_of_included(void (*call)() noexcept) noexcept;

// "[DOMAIN@]TEXT"; empty if none is named.
[[nodiscard]] std::string_view included_name() noexcept;

}  // namespace lanescope::agent::nvtx
