// A mapped memory file seen as its parts: the header and the bytes of each ring. Both sides; owns nothing.
#pragma once

#include <new>
#include <optional>
#include <span>

#include "collector/channel/layout.h"

namespace lanescope::channel {

class SharedMemory {
 public:
  SharedMemory() = default;
  // Requires: `mapping` is kMemoryBytes long, page-aligned, and was initialized (the target's side can't check more than it is told).
  explicit SharedMemory(void* mapping) noexcept : bytes_(static_cast<std::byte*>(mapping)) {}

  [[nodiscard]] SharedHeader& header() const noexcept { return *std::launder(reinterpret_cast<SharedHeader*>(bytes_)); }
  [[nodiscard]] std::span<std::byte> metadata_bytes() const noexcept { return {bytes_ + kMetadataRingOffset, kMetadataRingBytes}; }
  [[nodiscard]] std::span<std::byte> frame_bytes() const noexcept { return {bytes_ + kFrameRingOffset, kFrameRingBytes}; }
  // Requires: index < kThreadRingCount.
  [[nodiscard]] std::span<std::byte> thread_bytes(std::size_t index) const noexcept {
    return {bytes_ + kThreadRingsOffset + index * kThreadRingBytes, kThreadRingBytes};
  }
  [[nodiscard]] explicit operator bool() const noexcept { return bytes_ != nullptr; }

 private:
  std::byte* bytes_ = nullptr;
};

// The host's first step with a new memory file: writes its header. Settings are all zero: the agent stays silent until the host sets them.
// Requires: `mapping` is kMemoryBytes long, page-aligned and zero.
inline SharedMemory initialize_shared_memory(void* mapping, std::uint32_t process_instance) noexcept {
  auto* header = ::new (mapping) SharedHeader{};
  header->layout_version = kLayoutVersion;
  header->process_instance = process_instance;
  header->memory_bytes = kMemoryBytes;
  return SharedMemory(mapping);
}

// Target: takes a free thread ring for the calling thread; none when all are taken. The ring may still hold positions of an earlier owner,
// which a RingProducer goes on from. Any thread, O(kThreadRingCount).
inline std::optional<std::size_t> claim_thread_ring(SharedHeader& header, std::uint32_t thread) noexcept {
  for (std::size_t index = 0; index < kThreadRingCount; ++index) {
    std::atomic<std::uint32_t>& owner = header.thread_rings[index].owner;
    std::uint32_t free = 0;
    if (owner.load(std::memory_order_relaxed) == 0 && owner.compare_exchange_strong(free, thread, std::memory_order_acq_rel)) return index;
  }
  return std::nullopt;
}

// Target: the owner writes nothing more. The ring stays its own until the host has read it.
inline void close_thread_ring(RingHeader& ring) noexcept { ring.closed.store(1, std::memory_order_release); }

// Host: call this before reading; where it says true and the ring is empty after that, the ring can be freed.
inline bool is_closed(const RingHeader& ring) noexcept { return ring.closed.load(std::memory_order_acquire) != 0; }

// Host: makes a closed ring, of which everything was read, free for the next thread.
inline void free_thread_ring(RingHeader& ring) noexcept {
  ring.closed.store(0, std::memory_order_relaxed);
  ring.owner.store(0, std::memory_order_release);
}

}  // namespace lanescope::channel
