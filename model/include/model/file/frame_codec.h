// Seals and opens frames: compression and checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/file/frame.h"
#include "model/file/result.h"

namespace lanescope {

// A frame as it lies in a file or in memory: header and stored payload, not yet opened.
struct FrameView {
  FrameHeader header;
  std::span<const std::byte> stored;
  std::shared_ptr<const void> owner;  // keeps `stored`; null where that lies in memory of the caller's
};

// Appends a complete frame to `out`: `header` gives type, source, process and event_count; everything else is computed. The payload is
// compressed where that makes it smaller. Requires: payload.size() <= kMaximumPayloadBytes.
void append_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out);
// The same, not compressed.
void append_uncompressed_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out);

// Whether a frame may have such sizes, by its codec and the format's limit.
[[nodiscard]] bool has_possible_sizes(const FrameHeader& header);
// Whether these are possible and the checksum holds.
[[nodiscard]] bool frame_is_sound(const FrameView& frame);

// The payload, decompressed. Fails when the stored bytes do not decompress to exactly raw_size.
Result<std::string> open_frame(const FrameView& frame);

}  // namespace lanescope
