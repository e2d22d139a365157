// A GPU as files say it.
#pragma once

#include <cstdint>

#include "model/trace/trace.h"

namespace lanescope::proto {
class Device;
}

namespace lanescope {

// Fills the message with all that is known of the GPU; `ordinal` is its number for the process that the message is of.
void describe(const Gpu& gpu, std::uint32_t ordinal, proto::Device& message);

}  // namespace lanescope
