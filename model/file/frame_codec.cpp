#include "model/file/frame_codec.h"

#include <cstring>

#include <xxhash.h>
#include <zstd.h>

namespace lanescope {
namespace {

constexpr int kCompressionLevel = 3;  // zstd's own default
constexpr std::size_t kChecksummedHeaderBytes = offsetof(FrameHeader, checksum);

std::uint64_t checksum_of(const FrameHeader& header, std::span<const std::byte> stored) {
  XXH64_state_t* state = XXH64_createState();
  XXH64_reset(state, 0);
  XXH64_update(state, &header, kChecksummedHeaderBytes);
  XXH64_update(state, stored.data(), stored.size());
  const std::uint64_t digest = XXH64_digest(state);
  XXH64_freeState(state);
  return digest;
}

struct Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Compressor() { ZSTD_freeCCtx(context); }
};
struct Decompressor {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Decompressor() { ZSTD_freeDCtx(context); }
};

}  // namespace

void append_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out) {
  thread_local Compressor compressor;
  const std::size_t header_at = out.size();
  const std::size_t bound = ZSTD_compressBound(payload.size());
  out.resize(header_at + sizeof(FrameHeader) + bound);
  std::byte* stored = out.data() + header_at + sizeof(FrameHeader);
  std::size_t size = ZSTD_compressCCtx(compressor.context, stored, bound, payload.data(), payload.size(), kCompressionLevel);
  header.codec = Codec::kZstd;
  if (ZSTD_isError(size) || size >= payload.size()) {
    std::memcpy(stored, payload.data(), payload.size());
    size = payload.size();
    header.codec = Codec::kRaw;
  }
  out.resize(header_at + sizeof(FrameHeader) + size);
  header.magic = kFrameMagic;
  header.stored_size = static_cast<std::uint32_t>(size);
  header.raw_size = static_cast<std::uint32_t>(payload.size());
  header.checksum = checksum_of(header, {out.data() + header_at + sizeof(FrameHeader), size});
  std::memcpy(out.data() + header_at, &header, sizeof(header));
}

bool has_possible_sizes(const FrameHeader& header) {
  if (header.magic != kFrameMagic || header.raw_size > kMaximumPayloadBytes || header.stored_size > header.raw_size) return false;
  return header.codec == Codec::kZstd || (header.codec == Codec::kRaw && header.stored_size == header.raw_size);
}

bool frame_is_sound(const FrameView& frame) {
  const FrameHeader& header = frame.header;
  return header.stored_size == frame.stored.size() && has_possible_sizes(header) && checksum_of(header, frame.stored) == header.checksum;
}

Result<std::string> open_frame(const FrameView& frame) {
  const FrameHeader& header = frame.header;
  if (header.raw_size > kMaximumPayloadBytes) return Error{"A frame claims a payload larger than the format allows."};
  if (header.codec == Codec::kRaw) return std::string(reinterpret_cast<const char*>(frame.stored.data()), frame.stored.size());
  if (header.codec != Codec::kZstd)
    return Error{"A frame uses a compression that this version does not know; open it with a newer Lanescope."};
  const Error other_size{"A frame does not decompress to the size that its header gives."};
  const unsigned long long claimed = ZSTD_getFrameContentSize(frame.stored.data(), frame.stored.size());
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != header.raw_size) return other_size;
  thread_local Decompressor decompressor;
  std::string payload(header.raw_size, '\0');
  const std::size_t size =
      ZSTD_decompressDCtx(decompressor.context, payload.data(), payload.size(), frame.stored.data(), frame.stored.size());
  if (ZSTD_isError(size) || size != header.raw_size) return other_size;
  return payload;
}

}  // namespace lanescope
