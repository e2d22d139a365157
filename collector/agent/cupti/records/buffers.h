// The buffers that CUPTI fills: handed out, taken back and queued for the agent's own thread.
//
// CUPTI asks for a buffer within the target's calls (a kernel launch, for example), so request() and complete() are O(1), lock-free, and take no memory from
// the system: the first buffers are touched beforehand. If all are in use, CUPTI gets none, and counts what it drops. Buffers are never given back to the
// system, because CUPTI may hold one for as long as the process lives.
//
// Threads: request() and complete() any; take_completed() and recycle() the agent's own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lanescope::agent::cupti {

inline constexpr std::size_t kBufferBytes = 4u << 20;
inline constexpr std::uint32_t kFirstBuffers = 8;
inline constexpr std::uint32_t kMaximumBuffers = 32;

class Buffers {
 public:
  // Returns false if there was no memory.
  bool prepare() noexcept;
  // Gives the memory back, unless CUPTI still has buffers. Nothing else may be called afterwards.
  void release() noexcept;

  // kBufferBytes bytes; null if all buffers are in use.
  std::uint8_t* request() noexcept;

  // Requires: `buffer` came from request() and was not completed since.
  void complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;

  struct Completed {
    std::uint8_t* buffer;  // null: there is none
    std::size_t valid_bytes;
  };
  // Approximately in the order in which they were completed.
  Completed take_completed() noexcept;
  void recycle(std::uint8_t* buffer) noexcept;

  // Buffers that were requested and not recycled since: CUPTI has them, or their records were not read yet.
  [[nodiscard]] std::uint32_t unread() const noexcept { return static_cast<std::uint32_t>(unread_changes()); }
  // The same in the lower half of a number whose upper half counts the changes: of two such numbers, the greater one is the later.
  [[nodiscard]] std::uint64_t unread_changes() const noexcept { return unread_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Slot {
    std::atomic<std::uint32_t> next_free;
    std::uint32_t next_completed;
    std::size_t valid_bytes;
  };

  [[nodiscard]] std::uint8_t* address(std::uint32_t index) const noexcept { return memory_ + index * kBufferBytes; }
  [[nodiscard]] std::uint32_t index_of(const std::uint8_t* buffer) const noexcept {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(buffer - memory_) / kBufferBytes);
  }
  void push_free(std::uint32_t index) noexcept;
  std::uint32_t pop_free() noexcept;

  std::uint8_t* memory_ = nullptr;
  Slot slots_[kMaximumBuffers] = {};
  std::atomic<std::uint64_t> free_{kNone};  // index of the first free buffer; above it a count that tells equal indexes apart
  std::atomic<std::uint32_t> used_{0};      // buffers ever handed out
  std::atomic<std::uint32_t> completed_{kNone};
  std::atomic<std::uint64_t> unread_{0};
  std::uint32_t in_order_ = kNone;  // completed buffers, oldest first; used by the agent's thread only
};

}  // namespace lanescope::agent::cupti
