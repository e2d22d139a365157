#include "agent/encode/frame_writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent::encode {
namespace {

constexpr int kCompressionLevel = 1;        // low, because the processors belong to the target
constexpr std::uint8_t kSourceAgent = 1;    // proto::SOURCE_AGENT
constexpr std::int64_t kPause = 2'000'000;  // ns
constexpr int kPauses = 100;

std::uint64_t checksum_of(const FrameHeader& header, std::span<const std::byte> stored) noexcept {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, &header, offsetof(FrameHeader, checksum));
  XXH64_update(&state, stored.data(), stored.size());
  return XXH64_digest(&state);
}

}  // namespace

FrameWriter::FrameWriter(channel::SharedMemory memory, std::uint32_t process_instance) noexcept
    : memory_(memory), ring_(memory.header().frame_ring, memory.frame_bytes()), process_instance_(process_instance) {
  compressor_.reserve(ZSTD_estimateCCtxSize(kCompressionLevel));
}

bool FrameWriter::make_frame(FrameType type, std::span<const std::byte> payload, std::uint32_t event_count) noexcept {
  const std::size_t bound = ZSTD_compressBound(payload.size());
  frame_.clear();
  if (payload.size() > kMaximumPayloadBytes || !frame_.reserve(sizeof(FrameHeader) + bound)) return false;
  std::byte* stored = frame_.data() + sizeof(FrameHeader);
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.codec = Codec::kZstd;
  header.source = kSourceAgent;
  ZSTD_CCtx* context = ZSTD_initStaticCCtx(compressor_.data(), compressor_.free_bytes());
  std::size_t size = context == nullptr ? payload.size() : ZSTD_compressCCtx(context, stored, bound, payload.data(), payload.size(), kCompressionLevel);
  if (ZSTD_isError(size) || size >= payload.size()) {
    size = payload.size();
    std::memcpy(stored, payload.data(), size);
    header.codec = Codec::kRaw;
  }
  header.stored_size = static_cast<std::uint32_t>(size);
  header.raw_size = static_cast<std::uint32_t>(payload.size());
  header.process = process_instance_;
  header.event_count = event_count;
  header.checksum = checksum_of(header, {stored, size});
  frame_.append(&header, sizeof(header));
  frame_.extend(size);
  return true;
}

bool FrameWriter::write(FrameType type, std::span<const std::byte> payload, std::uint32_t event_count) noexcept {
  if (!make_frame(type, payload, event_count)) {
    ring_.count_dropped();
    return false;
  }
  bool written = ring_.write(frame_.bytes());
  for (int i = 0; !written && host_reads_ && i < kPauses; ++i) {
    system::sleep(kPause);
    written = ring_.write(frame_.bytes());
  }
  host_reads_ = written;
  if (!written) ring_.count_dropped();
  return written;
}

}  // namespace lanescope::agent::encode
