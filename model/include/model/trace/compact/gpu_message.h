// The description of a GPU in files.
#pragma once

#include <cstdint>

#include "model/trace/trace.h"

namespace lanescope::proto {
class Device;
}

namespace lanescope {

// Fills the message with all that is known of the GPU. `ordinal` is its number in the process to which the message belongs.
void describe(const Gpu& gpu, std::uint32_t ordinal, proto::Device& message);

}  // namespace lanescope
