// Counts of instructions as the agent wrote them (InstructionImage of collector/channel/kernel_counters.h), as messages of the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lanescope/kernel_metrics.pb.h"

namespace lanescope::kernel_metrics {

// In as many messages as it takes; metrics that the chip lacks are left out. Empty where the image makes no sense: the program may have
// written anything. O(bytes).
[[nodiscard]] std::vector<proto::InstructionCounts> instruction_counts(std::span<const std::uint8_t> image, std::span<const std::string> metrics);

}  // namespace lanescope::kernel_metrics
