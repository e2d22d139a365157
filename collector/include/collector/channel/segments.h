// The segments that metadata and thread rings consist of, and the pool of segments that no ring has.
//
// Any thread of the target takes segments, without locks. The host gives back those that it has read. The host trusts nothing: it bounds every number
// and every loop. A target that corrupts its pool loses only its own records.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <sys/mman.h>

#include "collector/channel/layout.h"

namespace lanescope::channel {

class SegmentPool {
 public:
  SegmentPool() = default;
  SegmentPool(SegmentPoolHeader& header, std::atomic<std::uint32_t>* links, std::byte* bytes, std::uint32_t count) noexcept
      : header_(&header), links_(links), bytes_(bytes), count_(count) {}

  // Takes a segment that no ring has: first those used last, whose pages are in memory. Returns nothing if all are in use. O(1).
  std::optional<std::uint32_t> take() noexcept {
    header_->taken.fetch_add(1, std::memory_order_relaxed);
    if (const auto index = pop(header_->warm)) return index;
    if (const auto index = pop(header_->cold)) return index;
    std::uint32_t index = header_->untouched.load(std::memory_order_relaxed);
    do {
      if (index >= count_) return std::nullopt;
    } while (!header_->untouched.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
    return index;
  }

  // Host: gives back a segment that nobody refers to any more. Requires: index < count().
  void give(std::uint32_t index) noexcept { push(header_->warm, index); }

  // Host: gives pages of unused segments back to the system, of at most `most` segments. Does nothing if many segments were taken since the last
  // call; otherwise about as many segments as were taken keep their pages. Returns the number of segments. One system call each.
  std::size_t give_pages_back(std::size_t most) noexcept {
    const std::uint64_t taken = header_->taken.load(std::memory_order_relaxed);
    const std::uint64_t in_use = taken - taken_before_;
    taken_before_ = taken;
    if (in_use > kBusy) return 0;
    // Segments that keep their pages are held here until the others are done, but only if the target can get other segments meanwhile.
    const bool has_others =
        header_->untouched.load(std::memory_order_relaxed) < count_ || static_cast<std::uint32_t>(header_->cold.load(std::memory_order_relaxed)) != 0;
    const std::uint64_t staying = has_others ? in_use : 0;
    std::array<std::uint32_t, kBusy> held;
    std::size_t held_count = 0;
    std::size_t given_back = 0;
    while (given_back < most) {
      const auto index = pop(header_->warm);
      if (!index) break;
      if (held_count < staying) {
        held[held_count++] = *index;
        continue;
      }
      madvise(bytes_ + std::size_t{*index} * kSegmentBytes, kSegmentBytes, MADV_REMOVE);
      push(header_->cold, *index);
      ++given_back;
    }
    while (held_count > 0) push(header_->warm, held[--held_count]);
    return given_back;
  }

  // Requires: index < count().
  [[nodiscard]] std::span<std::byte> bytes(std::uint32_t index) const noexcept { return {bytes_ + std::size_t{index} * kSegmentBytes, kSegmentBytes}; }
  // The next segment of the same ring, plus 1. Requires: index < count().
  [[nodiscard]] std::atomic<std::uint32_t>& link(std::uint32_t index) const noexcept { return links_[index]; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  using Stack = std::atomic<std::uint64_t>;
  static constexpr std::uint64_t kChange = std::uint64_t{1} << 32;
  static constexpr std::size_t kBusy = 256;  // most segments taken between two calls of give_pages_back()
  static constexpr int kPatience = 1'000;    // most attempts of the host, so that a target can't keep it busy

  static constexpr std::uint64_t changed(std::uint64_t before, std::uint32_t top) noexcept { return ((before / kChange) + 1) * kChange + top; }

  std::optional<std::uint32_t> pop(Stack& stack) noexcept {
    std::uint64_t seen = stack.load(std::memory_order_acquire);
    for (int i = 0; i < kPatience; ++i) {
      const auto top = static_cast<std::uint32_t>(seen);
      if (top == 0 || top > count_) return std::nullopt;
      const std::uint64_t wanted = changed(seen, links_[top - 1].load(std::memory_order_relaxed));
      if (stack.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel, std::memory_order_acquire)) return top - 1;
    }
    return std::nullopt;
  }
  void push(Stack& stack, std::uint32_t index) noexcept {
    std::uint64_t seen = stack.load(std::memory_order_relaxed);
    for (int i = 0; i < kPatience; ++i) {
      links_[index].store(static_cast<std::uint32_t>(seen), std::memory_order_relaxed);
      if (stack.compare_exchange_weak(seen, changed(seen, index + 1), std::memory_order_release, std::memory_order_relaxed)) return;
    }
  }

  SegmentPoolHeader* header_ = nullptr;
  std::atomic<std::uint32_t>* links_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint64_t taken_before_ = 0;  // used by the host only
};

}  // namespace lanescope::channel
