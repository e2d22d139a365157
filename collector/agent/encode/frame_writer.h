// Makes frames (model/file/frame.h) from payloads and puts them into the frame ring. One thread.
#pragma once

#include <cstdint>
#include <span>

#include "agent/core/memory/page_buffer.h"
#include "collector/channel/ring.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent::encode {

// The values of trace.proto's FrameType that the agent writes.
enum class FrameType : std::uint16_t { kResources = 5, kEvents = 6, kClockSync = 7, kCodeObject = 19, kPcSamples = 20 };

class FrameWriter {
 public:
  FrameWriter(channel::SharedMemory memory, std::uint32_t process_instance) noexcept;

  // Compresses the payload and publishes the frame. If the ring is full, waits for the host, at most 200 ms; after that it does not wait again until there was
  // room. Returns whether the frame was written; if not, it is counted in the ring.
  bool write(FrameType type, std::span<const std::byte> payload, std::uint32_t event_count) noexcept;

 private:
  bool make_frame(FrameType type, std::span<const std::byte> payload, std::uint32_t event_count) noexcept;

  channel::SharedMemory memory_;
  channel::FrameRingProducer ring_;
  std::uint32_t process_instance_;
  PageBuffer compressor_;  // zstd's working memory
  PageBuffer frame_;
  bool host_reads_ = true;
};

}  // namespace lanescope::agent::encode
