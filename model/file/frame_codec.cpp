#include "model/file/frame_codec.h"

#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "model/file/frame_owner.h"

namespace lanescope {
namespace {

constexpr int kCompressionLevel = 3;  // zstd's default
constexpr std::size_t kChecksummedHeaderBytes = offsetof(FrameHeader, checksum);

// A context of a C library, lent for one frame. A returned context is reused, because creating one takes longer than many frames. Contexts are not
// thread-local: glibc ends the program if it lacks memory to register their destructors. Throws std::bad_alloc if there is no memory for another context.
template <typename State, State* (*create)(), auto destroy>
class Loan {
 public:
  Loan() {
    {
      const std::lock_guard lock(pool().mutex);
      if (pool().count > 0) state_ = pool().unused[--pool().count];
    }
    if (state_ == nullptr) state_ = create();
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~Loan() {
    {
      const std::lock_guard lock(pool().mutex);
      if (pool().count < kMostKept) pool().unused[pool().count++] = std::exchange(state_, nullptr);
    }
    if (state_ != nullptr) destroy(state_);
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  [[nodiscard]] State* get() const noexcept { return state_; }

 private:
  static constexpr std::size_t kMostKept = 16;  // the number of threads that process frames at once
  struct Pool {
    std::mutex mutex;
    std::array<State*, kMostKept> unused{};
    std::size_t count = 0;
  };
  static Pool& pool() {
    static constinit Pool all;
    return all;
  }
  State* state_ = nullptr;
};

std::uint64_t checksum_of(const FrameHeader& header, std::span<const std::byte> stored) {
  const Loan<XXH64_state_t, XXH64_createState, XXH64_freeState> state;
  XXH64_reset(state.get(), 0);
  XXH64_update(state.get(), &header, kChecksummedHeaderBytes);
  XXH64_update(state.get(), stored.data(), stored.size());
  return XXH64_digest(state.get());
}

}  // namespace

namespace {

// Completes the frame that begins at `header_at`; its stored payload follows the header.
void seal(FrameHeader header, std::size_t header_at, std::size_t raw_size, std::vector<std::byte>& out) {
  const std::span stored = std::span(out).subspan(header_at + sizeof(FrameHeader));
  header.magic = kFrameMagic;
  header.stored_size = static_cast<std::uint32_t>(stored.size());
  header.raw_size = static_cast<std::uint32_t>(raw_size);
  header.checksum = checksum_of(header, stored);
  std::memcpy(out.data() + header_at, &header, sizeof(header));
}

}  // namespace

void append_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out) {
  const Loan<ZSTD_CCtx, ZSTD_createCCtx, ZSTD_freeCCtx> compressor;
  const std::size_t header_at = out.size();
  const std::size_t bound = ZSTD_compressBound(payload.size());
  out.resize(header_at + sizeof(FrameHeader) + bound);
  std::byte* stored = out.data() + header_at + sizeof(FrameHeader);
  std::size_t size = ZSTD_compressCCtx(compressor.get(), stored, bound, payload.data(), payload.size(), kCompressionLevel);
  header.codec = Codec::kZstd;
  if (ZSTD_isError(size) || size >= payload.size()) {
    std::memcpy(stored, payload.data(), payload.size());
    size = payload.size();
    header.codec = Codec::kRaw;
  }
  out.resize(header_at + sizeof(FrameHeader) + size);
  seal(header, header_at, payload.size(), out);
}

void append_uncompressed_frame(FrameHeader header, std::string_view payload, std::vector<std::byte>& out) {
  const std::size_t header_at = out.size();
  out.resize(header_at + sizeof(FrameHeader) + payload.size());
  std::memcpy(out.data() + header_at + sizeof(FrameHeader), payload.data(), payload.size());
  header.codec = Codec::kRaw;
  seal(header, header_at, payload.size(), out);
}

void give_frame_to(std::uint32_t process, std::span<std::byte> frame) {
  FrameHeader header;
  std::memcpy(&header, frame.data(), sizeof(header));
  header.process = process;
  header.checksum = checksum_of(header, frame.subspan(sizeof(header)));
  std::memcpy(frame.data(), &header, sizeof(header));
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
  if (header.codec != Codec::kZstd) return Error{"A frame uses a compression that this version does not know; open it with a newer Lanescope."};
  const Error other_size{"A frame does not decompress to the size that its header gives."};
  const unsigned long long claimed = ZSTD_getFrameContentSize(frame.stored.data(), frame.stored.size());
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != header.raw_size) return other_size;
  const Loan<ZSTD_DCtx, ZSTD_createDCtx, ZSTD_freeDCtx> decompressor;
  std::string payload(header.raw_size, '\0');
  const std::size_t size = ZSTD_decompressDCtx(decompressor.get(), payload.data(), payload.size(), frame.stored.data(), frame.stored.size());
  if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();  // the frame may be sound
  if (ZSTD_isError(size) || size != header.raw_size) return other_size;
  return payload;
}

}  // namespace lanescope
