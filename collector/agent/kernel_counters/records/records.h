// Writes the counter data for the host to the file of the process, in the order of the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "agent/kernel_counters/choice/launch.h"
#include "agent/kernel_counters/state.h"
#include "collector/channel/kernel_counters.h"

namespace lanescope::agent::kernel_counters {

// The counts of a launch or a range, or the reason why there are none (`reason`).
void write_record(channel::CounterOutcome outcome, const Launch& launch, const Measurement& measurement, std::uint64_t spent, std::string_view reason,
                  std::span<const std::byte> image) noexcept;
// Notes that a launch is measured from now on.
void write_begin(const Launch& launch) noexcept;
// Code that was counted and not written yet.
void write_code() noexcept;

[[nodiscard]] channel::KernelRecord record_of(std::string_view name, std::uint32_t correlation) noexcept;
void write_kernel(const channel::KernelRecord& record, std::string_view name) noexcept;
// CUPTI's record of the kernel comes with its next buffer, or never, if the program is ended before. Until then this record replaces it. It has no block shape:
// with the shape and without registers, the kernel's occupancy would seem to be known.
void write_kernel(const Launch& launch) noexcept;
// Sets the GPU and the context to which a kernel belongs.
void place_in(CUcontext context, channel::KernelRecord& record) noexcept;

}  // namespace lanescope::agent::kernel_counters
