// Frames as input of a fuzz target: without checksums, so that the result of a mutation is read instead of being refused.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::fuzz {

struct Frame {
  std::uint8_t type = 0;    // proto::FrameType
  std::uint8_t source = 0;  // proto::FrameSource
  std::uint8_t process = 0;
  std::uint32_t events = 0;
  std::string payload;
};

// Any bytes are a sequence of frames; an incomplete frame at the end is ignored.
[[nodiscard]] std::vector<Frame> frames_of(std::string_view bytes);
[[nodiscard]] std::string bytes_of(const std::vector<Frame>& frames);

// Changes a frame's message, its bytes or its header, or the set of frames.
void change(std::vector<Frame>& frames, std::mt19937& random);

}  // namespace lanescope::fuzz
