// Whose a frame is can be known later than what it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope {

// Makes a frame one of this process, by its instance number. Requires: the bytes are one complete frame (append_frame). O(bytes).
void give_frame_to(std::uint32_t process, std::span<std::byte> frame);

}  // namespace lanescope
