// Sets the owner of a frame after its content was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope {

// Assigns a frame to a process, by its instance number. Requires: the bytes are one complete frame (append_frame). O(bytes).
void give_frame_to(std::uint32_t process, std::span<std::byte> frame);

}  // namespace lanescope
