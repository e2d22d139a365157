#include "agent/cupti/records/buffers.h"

#include <sys/mman.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kChange = std::uint64_t{1} << 32;  // one change in unread_changes()

// Allocates the pages now instead of during a kernel launch.
void touch(std::uint8_t* memory, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::size_t i = 0; i < bytes; i += kPageBytes) static_cast<volatile std::uint8_t*>(memory)[i] = 0;
}

}  // namespace

bool Buffers::prepare() noexcept {
  constexpr std::size_t bytes = kMaximumBuffers * kBufferBytes;
  void* memory = system::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (memory == nullptr) return false;
  memory_ = static_cast<std::uint8_t*>(memory);
  madvise(memory, bytes, MADV_DONTDUMP);
  touch(memory_, kFirstBuffers * kBufferBytes);
  return true;
}

void Buffers::release() noexcept {
  for (Completed last = take_completed(); last.buffer != nullptr; last = take_completed()) recycle(last.buffer);
  if (unread() == 0) system::unmap(memory_, kMaximumBuffers * kBufferBytes);
}

void Buffers::push_free(std::uint32_t index) noexcept {
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  std::uint64_t wanted = 0;
  do {
    slots_[index].next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    wanted = ((head >> 32) + 1) << 32 | index;
  } while (!free_.compare_exchange_weak(head, wanted, std::memory_order_release, std::memory_order_relaxed));
}

std::uint32_t Buffers::pop_free() noexcept {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  for (;;) {
    const auto index = static_cast<std::uint32_t>(head);
    if (index == kNone) return kNone;
    const std::uint64_t wanted = ((head >> 32) + 1) << 32 | slots_[index].next_free.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, wanted, std::memory_order_acquire, std::memory_order_acquire)) return index;
  }
}

std::uint8_t* Buffers::request() noexcept {
  std::uint32_t index = pop_free();
  if (index == kNone) {
    index = used_.load(std::memory_order_relaxed);
    do {
      if (index >= kMaximumBuffers) return nullptr;
    } while (!used_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  }
  unread_.fetch_add(kChange + 1, std::memory_order_relaxed);
  return address(index);
}

void Buffers::complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  const std::uint32_t index = index_of(buffer);
  slots_[index].valid_bytes = valid_bytes;
  std::uint32_t head = completed_.load(std::memory_order_relaxed);
  do slots_[index].next_completed = head;
  while (!completed_.compare_exchange_weak(head, index, std::memory_order_release, std::memory_order_relaxed));
}

Buffers::Completed Buffers::take_completed() noexcept {
  if (in_order_ == kNone) {
    // The list has the newest first; reverse it.
    for (std::uint32_t index = completed_.exchange(kNone, std::memory_order_acquire); index != kNone;) {
      const std::uint32_t next = slots_[index].next_completed;
      slots_[index].next_completed = in_order_;
      in_order_ = index;
      index = next;
    }
  }
  if (in_order_ == kNone) return {nullptr, 0};
  const std::uint32_t index = in_order_;
  in_order_ = slots_[index].next_completed;
  return {address(index), slots_[index].valid_bytes};
}

void Buffers::recycle(std::uint8_t* buffer) noexcept {
  unread_.fetch_add(kChange - 1, std::memory_order_relaxed);
  push_free(index_of(buffer));
}

}  // namespace lanescope::agent::cupti
