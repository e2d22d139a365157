// Converts counts of instructions as the agent wrote them (InstructionImage of collector/channel/kernel_counters.h) to messages of the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lanescope/kernel_metrics.pb.h"

namespace lanescope::kernel_metrics {

// Returns as many messages as needed; metrics that the chip does not have are left out. Empty if the image is invalid: the program may have written
// anything. O(bytes).
[[nodiscard]] std::vector<proto::InstructionCounts> instruction_counts(std::span<const std::uint8_t> image, std::span<const std::string> metrics);

}  // namespace lanescope::kernel_metrics
