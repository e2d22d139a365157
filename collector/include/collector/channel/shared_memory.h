// A mapped memory file and its parts: the header, the rings, and the pools that segments come from. For both sides; owns nothing.
#pragma once

#include <new>
#include <optional>
#include <span>

#include "collector/channel/layout.h"
#include "collector/channel/segments.h"

namespace lanescope::channel {

class SharedMemory {
 public:
  SharedMemory() = default;
  // Requires: `mapping` has `bytes` bytes, is page-aligned, and was initialized; `bytes` was computed by memory_bytes_for().
  SharedMemory(void* mapping, std::uint64_t bytes) noexcept : bytes_(static_cast<std::byte*>(mapping)), size_(bytes) {}
  // For the target, which trusts the host.
  explicit SharedMemory(SharedHeader& header) noexcept : SharedMemory(&header, header.memory_bytes) {}

  [[nodiscard]] SharedHeader& header() const noexcept { return *std::launder(reinterpret_cast<SharedHeader*>(bytes_)); }
  [[nodiscard]] std::span<std::byte> frame_bytes() const noexcept { return {bytes_ + kFrameRingOffset, kFrameRingBytes}; }
  // Requires: index < kThreadRingCount.
  [[nodiscard]] RingHeader& thread_ring(std::size_t index) const noexcept {
    return std::launder(reinterpret_cast<RingHeader*>(bytes_ + kThreadRingsOffset))[index];
  }
  [[nodiscard]] SegmentPool metadata_pool() const noexcept {
    return {header().metadata_pool, links(kMetadataLinksOffset), bytes_ + kMetadataSegmentsOffset, kMetadataSegments};
  }
  [[nodiscard]] SegmentPool thread_pool() const noexcept {
    const std::uint32_t count = thread_segments();
    return {header().thread_pool, links(kThreadLinksOffset), bytes_ + thread_segments_offset(count), count};
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] explicit operator bool() const noexcept { return bytes_ != nullptr; }

 private:
  [[nodiscard]] std::atomic<std::uint32_t>* links(std::size_t offset) const noexcept {
    return std::launder(reinterpret_cast<std::atomic<std::uint32_t>*>(bytes_ + offset));
  }
  // The number of segments that fit together with their links: the inverse of memory_bytes_for().
  [[nodiscard]] std::uint32_t thread_segments() const noexcept {
    const std::uint64_t room = size_ - kThreadLinksOffset;
    auto count = static_cast<std::uint32_t>(room / (kSegmentBytes + sizeof(std::uint32_t)));
    while (count > 0 && memory_bytes_for(std::uint64_t{count} * kSegmentBytes) > size_) --count;
    return count;
  }

  std::byte* bytes_ = nullptr;
  std::uint64_t size_ = 0;
};

// The host's first step with a new memory file: writes its header. All settings are zero: the agent stays silent until the host sets them. Requires:
// `mapping` has `bytes` bytes, is page-aligned and zero; `bytes` was computed by memory_bytes_for().
inline SharedMemory initialize_shared_memory(void* mapping, std::uint64_t bytes, std::uint32_t process_instance) noexcept {
  auto* header = ::new (mapping) SharedHeader{};
  header->layout_version = kLayoutVersion;
  header->process_instance = process_instance;
  header->memory_bytes = bytes;
  return {mapping, bytes};
}

// Target: takes a free thread ring for the calling thread; nothing if all are taken. The ring may still have positions of an earlier owner; a
// RingProducer continues from them. Any thread, O(rings that were ever claimed).
inline std::optional<std::size_t> claim_thread_ring(const SharedMemory& memory, std::uint32_t thread) noexcept {
  std::atomic<std::uint32_t>& used = memory.header().thread_rings_used;
  for (std::size_t index = 0; index < kThreadRingCount; ++index) {
    std::uint32_t seen = used.load(std::memory_order_acquire);
    while (seen <= index && !used.compare_exchange_weak(seen, static_cast<std::uint32_t>(index + 1), std::memory_order_acq_rel)) {
    }
    std::atomic<std::uint32_t>& owner = memory.thread_ring(index).owner;
    std::uint32_t free = 0;
    if (owner.load(std::memory_order_relaxed) == 0 && owner.compare_exchange_strong(free, thread, std::memory_order_acq_rel)) return index;
  }
  return std::nullopt;
}

// Target: the owner writes nothing more. It keeps the ring until the host has read it.
inline void close_thread_ring(RingHeader& ring) noexcept { ring.closed.store(1, std::memory_order_release); }

// Host: call this before reading. If it returns true and the ring is empty after reading, the ring can be freed.
inline bool is_closed(const RingHeader& ring) noexcept { return ring.closed.load(std::memory_order_acquire) != 0; }

// Host: frees a closed ring for the next thread. Requires: everything was read, and the consumer has given the ring's segments back.
inline void free_thread_ring(RingHeader& ring) noexcept {
  ring.closed.store(0, std::memory_order_relaxed);
  ring.owner.store(0, std::memory_order_release);
}

}  // namespace lanescope::channel
