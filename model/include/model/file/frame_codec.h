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

// A frame in a file or in memory: header and stored payload, not yet opened.
struct FrameView {
  FrameHeader header;
  std::span<const std::byte> stored;
  std::shared_ptr<const void> owner;  // keeps `stored` alive; null if the caller owns that memory
};

// Appends a complete frame to `out`. `header` provides type, source, process and event_count; the other fields are computed. The payload is compressed if that
// makes it smaller. Requires: payload.size() <= kMaximumPayloadBytes.
void append_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out);
// The same without compression.
void append_uncompressed_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out);

// True if a frame may have these sizes, by its codec and the format's limit.
[[nodiscard]] bool has_possible_sizes(const FrameHeader& header);
// True if the sizes are possible and the checksum matches.
[[nodiscard]] bool frame_is_sound(const FrameView& frame);

// The payload, decompressed. Fails if the stored bytes do not decompress to exactly raw_size bytes.
Result<std::string> open_frame(const FrameView& frame);

}  // namespace lanescope
