// What a protobuf message will take in memory, from its bytes alone: so that none is parsed that would take more than a frame may.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/file/frame_codec.h"

namespace lanescope {

struct MessageSize {
  std::uint64_t bytes = 0;           // of the message and all in it, somewhat more than less
  std::uint64_t entries = 0;         // repeated texts and messages in it
  std::uint64_t text_bytes = 0;      // of all texts in it
  std::uint64_t numbers = 0;         // in repeated fields
  std::uint64_t longest_column = 0;  // numbers in the longest of these
};

// `type` is one of the schema, with its package: "lanescope.proto.EventChunk"; of others nothing is known. Stops where the message takes more
// than `most_bytes`. Bytes that are no message count as those that come before; to parse them fails. O(bytes of the payload).
[[nodiscard]] MessageSize measure_message(std::string_view type, std::string_view payload, std::uint64_t most_bytes);

// The type of the message that frames of a type hold (proto::FrameType); empty where readers skip them.
[[nodiscard]] std::string_view message_of_frame(std::uint16_t frame_type) noexcept;

// What of a frame, beside its events, readers count against what its file may hold (limits.h). All 0 where they skip it.
struct FrameContent {
  std::uint32_t unpacked = 0;    // bytes of its payload
  std::uint32_t entries = 0;     // as of MessageSize
  std::uint32_t text_bytes = 0;  // likewise
};
// Of one whose payload is at hand: that costs little, since columns are not looked into. O(fields). Requires: payload.size() <= kMaximumPayloadBytes.
[[nodiscard]] FrameContent content_of(std::uint16_t frame_type, std::string_view payload);
// Of one that must be decompressed for it.
[[nodiscard]] FrameContent content_of(const FrameView& frame);

}  // namespace lanescope
