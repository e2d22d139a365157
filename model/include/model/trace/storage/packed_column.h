// A column of 32-bit numbers that are near each other, in as few bytes as they need: as distances from the least of all, or from the least of 16 in a
// row, in zero, one, two or four bytes each.
//
// Names and details of a lane's events are few, so their ids need one byte or two. Correlation ids ascend: their range is wide over all events, and
// narrow within 16 events. Immutable. Any number of threads may read it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "model/trace/storage/fixed_array.h"

namespace lanescope {

class PackedColumn {
 public:
  PackedColumn() = default;
  // Keeps value_of(0) to value_of(count - 1). O(count). They lie in `memory`, if that is given and has room.
  template <typename ValueOf>
  explicit PackedColumn(std::size_t count, ValueOf value_of, ColumnMemory* memory = nullptr) {
    if (count == 0) return;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max(), largest = 0, widest_block = 0;
    for (std::size_t block = 0; block < count; block += kBlock) {
      std::uint32_t low = std::numeric_limits<std::uint32_t>::max(), high = 0;
      const auto consider = [&](std::size_t end) {
        for (std::size_t i = block; i < end; ++i) {
          const std::uint32_t value = value_of(i);
          low = std::min(low, value);
          high = std::max(high, value);
        }
      };
      block + kBlock <= count ? consider(block + kBlock) : consider(count);  // the first call is a loop whose length is known
      least = std::min(least, low);
      largest = std::max(largest, high);
      widest_block = std::max(widest_block, high - low);
    }
    const std::size_t blocks = (count + kBlock - 1) / kBlock;
    const Width of_all = width_for(largest - least), of_blocks = width_for(widest_block);
    const bool by_block = bytes_of(of_blocks) * count + blocks * sizeof(std::uint32_t) < bytes_of(of_all) * count;
    width_ = by_block ? of_blocks : of_all;
    by_block_ = by_block;
    base_ = least;
    values_at_ = by_block ? blocks * sizeof(std::uint32_t) : 0;
    memory_ = FixedArray<std::byte>(values_at_ + bytes_of(width_) * count, memory);
    switch (width_) {
      case Width::kZero:
        put_all<void>(count, value_of);
        break;
      case Width::kOne:
        put_all<std::uint8_t>(count, value_of);
        break;
      case Width::kTwo:
        put_all<std::uint16_t>(count, value_of);
        break;
      case Width::kFour:
        put_all<std::uint32_t>(count, value_of);
        break;
    }
  }

  // Requires: i < count. O(1).
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const noexcept {
    const std::uint32_t base = by_block_ ? get<std::uint32_t>(i / kBlock * sizeof(std::uint32_t)) : base_;
    switch (width_) {
      case Width::kZero:
        break;
      case Width::kOne:
        return base + get<std::uint8_t>(values_at_ + i);
      case Width::kTwo:
        return base + get<std::uint16_t>(values_at_ + i * 2);
      case Width::kFour:
        return base + get<std::uint32_t>(values_at_ + i * 4);
    }
    return base;
  }

  // True if values [first, last) of both are the same.
  [[nodiscard]] bool same(const PackedColumn& other, std::size_t first, std::size_t last) const noexcept {
    // If both are stored in the same way, the stored bytes can be compared.
    if (width_ == other.width_ && !by_block_ && !other.by_block_ && base_ == other.base_) {
      const std::size_t width = bytes_of(width_);
      return std::memcmp(memory_.data() + values_at_ + first * width, other.memory_.data() + other.values_at_ + first * width, (last - first) * width) == 0;
    }
    while (first < last && (*this)[first] == other[first]) ++first;
    return first == last;
  }

  void prefetch(std::size_t i) const noexcept { __builtin_prefetch(memory_.data() + values_at_ + i * bytes_of(width_)); }
  // Bytes on the heap.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_.memory_bytes(); }

 private:
  enum class Width : std::uint8_t { kZero, kOne, kTwo, kFour };
  static constexpr std::size_t kBlock = 16;

  [[nodiscard]] static Width width_for(std::uint32_t largest) noexcept {
    if (largest == 0) return Width::kZero;
    return largest <= 0xff ? Width::kOne : largest <= 0xffff ? Width::kTwo : Width::kFour;
  }
  [[nodiscard]] static std::size_t bytes_of(Width width) noexcept { return width == Width::kZero ? 0 : std::size_t{1} << (static_cast<unsigned>(width) - 1); }

  template <typename Value>
  [[nodiscard]] Value get(std::size_t at) const noexcept {
    Value value;
    std::memcpy(&value, memory_.data() + at, sizeof(value));
    return value;
  }
  // Writes distances of this many bytes; for void, of none.
  template <typename Distance, typename ValueOf>
  void put_all(std::size_t count, ValueOf value_of) noexcept {
    const auto put = [](std::byte* at, auto value) { std::memcpy(at, &value, sizeof(value)); };
    std::byte* const bases = memory_.data();
    std::byte* const values = bases + values_at_;
    for (std::size_t first = 0; first < count; first += kBlock) {
      const auto put_block = [&](std::size_t end) {
        std::uint32_t low = base_;
        if (by_block_) {
          low = value_of(first);
          for (std::size_t i = first; i < end; ++i) low = std::min<std::uint32_t>(low, value_of(i));
          put(bases + first / kBlock * sizeof(low), low);
        }
        if constexpr (!std::is_void_v<Distance>)
          for (std::size_t i = first; i < end; ++i) put(values + i * sizeof(Distance), static_cast<Distance>(value_of(i) - low));
      };
      first + kBlock <= count ? put_block(first + kBlock) : put_block(count);  // as above
    }
  }

  FixedArray<std::byte> memory_;  // the least of each block, if distances are from those; then the distances
  std::size_t values_at_ = 0;
  std::uint32_t base_ = 0;  // the least of all: kept here, so that reading a value costs one cache miss
  Width width_ = Width::kZero;
  bool by_block_ = false;
};

}  // namespace lanescope
