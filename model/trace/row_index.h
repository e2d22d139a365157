// Finds rows of a table by their contents, in five to eleven bytes a row. Internal to model/trace.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace/types.h"

namespace lanescope {

// A number that differs from run to run, so that no file can be made with rows that all have the same hash.
[[nodiscard]] std::uint64_t hash_seed() noexcept;
[[nodiscard]] std::uint64_t hash_of(std::string_view text) noexcept;

// The hash of some numbers.
template <std::convertible_to<std::uint64_t>... Numbers>
[[nodiscard]] std::uint64_t hash_of_numbers(Numbers... numbers) noexcept {
  std::uint64_t hash = hash_seed();
  const auto mix = [&hash](std::uint64_t number) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
    hash ^= std::rotr(hash, 29);
  };
  (mix(static_cast<std::uint64_t>(numbers)), ...);
  return hash * 0xff51afd7ed558ccdull ^ hash >> 32;
}

// Rows [0, size()) of a table that its owner keeps. O(1) each, if hashes are well distributed.
//
// A slot holds a row's number and, in the bits that numbers do not need, a part of its hash: nearly all rows that are not the wanted one are skipped
// without a look at the table, where each look costs a cache miss or two.
class RowIndex {
 public:
  // As many hashes as a processor can look up at once: callers that have more to find or append take this many at a time, and prefetch each first.
  static constexpr std::uint32_t kAtOnce = 32;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // Prefetches into the processor's cache what find() and append() read first. O(1).
  void prefetch(std::uint64_t hash) const noexcept {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
  }
  // The row with this hash for which `is_wanted` returns true; kNone if there is none.
  template <typename IsWanted>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, IsWanted is_wanted) const {
    if (slots_.empty()) return kNone;
    for (std::size_t slot = hash & mask();; slot = (slot + 1) & mask()) {
      const std::uint32_t held = slots_[slot];
      if (held == kNone) return kNone;
      if (part_of_hash(held) == part_of_hash(hash >> 32) && is_wanted(row(held))) return row(held);
    }
  }
  // Adds row size(), which has this hash; `hash_of_row` computes the hashes of the other rows again.
  template <typename HashOfRow>
  void append(std::uint64_t hash, HashOfRow hash_of_row) {
    if (std::uint64_t{size_} * 4 >= slots_.size() * 3) grow(hash_of_row);
    put(hash, size_++);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return slots_.capacity() * sizeof(std::uint32_t); }

 private:
  static constexpr std::size_t kFirstSlots = 16;  // a power of two, as all numbers of slots are
  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  // The row number in a slot. There are fewer rows than slots, so no row with any hash looks like kNone.
  [[nodiscard]] std::uint32_t row(std::uint32_t held) const noexcept { return held & static_cast<std::uint32_t>(mask()); }
  [[nodiscard]] std::uint32_t part_of_hash(std::uint64_t bits) const noexcept { return static_cast<std::uint32_t>(bits) & ~static_cast<std::uint32_t>(mask()); }
  template <typename HashOfRow>
  void grow(HashOfRow hash_of_row) {
    slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 2, kNone);
    std::array<std::uint64_t, kAtOnce> hashes;
    for (std::uint32_t first = 0; first < size_; first += kAtOnce) {
      const std::uint32_t count = std::min(kAtOnce, size_ - first);
      for (std::uint32_t i = 0; i < count; ++i) prefetch(hashes[i] = hash_of_row(first + i));
      for (std::uint32_t i = 0; i < count; ++i) put(hashes[i], first + i);
    }
  }
  void put(std::uint64_t hash, std::uint32_t row) {
    std::size_t slot = hash & mask();
    while (slots_[slot] != kNone) slot = (slot + 1) & mask();
    slots_[slot] = part_of_hash(hash >> 32) | row;
  }

  std::vector<std::uint32_t> slots_;
  std::uint32_t size_ = 0;
};

}  // namespace lanescope
