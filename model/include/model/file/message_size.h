// Computes from its bytes how much memory a protobuf message will take, so that no message is parsed that would take more than a frame may.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/file/frame_codec.h"

namespace lanescope {

struct MessageSize {
  std::uint64_t bytes = 0;           // of the message and everything in it; rather too high than too low
  std::uint64_t entries = 0;         // repeated texts and messages
  std::uint64_t text_bytes = 0;      // of all texts
  std::uint64_t numbers = 0;         // in repeated fields
  std::uint64_t longest_column = 0;  // numbers in the longest repeated field
};

// `type` is a type of the schema with its package: "lanescope.proto.EventChunk". Other types are unknown. Stops when the message takes more than `most_bytes`.
// Bytes that are no valid message count only up to the error; parsing them fails. O(bytes of the payload).
[[nodiscard]] MessageSize measure_message(std::string_view type, std::string_view payload, std::uint64_t most_bytes);

// The message type in frames of a type (proto::FrameType); empty if readers skip such frames.
[[nodiscard]] std::string_view message_of_frame(std::uint16_t frame_type) noexcept;

// Content of a frame that readers count, with its events, against the limits of its file (limits.h). All 0 if readers skip the frame.
struct FrameContent {
  std::uint32_t unpacked = 0;    // bytes of the payload, uncompressed
  std::uint32_t entries = 0;     // as in MessageSize
  std::uint32_t text_bytes = 0;  // likewise
};
// For a payload that is already decompressed. This is cheap, because columns are not examined. O(fields). Requires: payload.size() <= kMaximumPayloadBytes.
[[nodiscard]] FrameContent content_of(std::uint16_t frame_type, std::string_view payload);
// For a frame; decompresses its payload.
[[nodiscard]] FrameContent content_of(const FrameView& frame);

}  // namespace lanescope
