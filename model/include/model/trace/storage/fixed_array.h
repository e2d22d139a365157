// An array whose size is known when it is made: on the heap, or in memory that somebody else owns for many arrays and that outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace lanescope {

// Memory that is given out from its start on, and never taken back. One thread at a time.
class ColumnMemory {
 public:
  ColumnMemory() = default;
  explicit ColumnMemory(std::span<std::byte> memory) : memory_(memory) {}

  // Aligned for any number; null if there is no room.
  [[nodiscard]] std::byte* take(std::size_t bytes) noexcept {
    constexpr std::size_t kAlignment = 16;
    const std::size_t begin = (taken_ + kAlignment - 1) / kAlignment * kAlignment;
    if (begin > memory_.size() || bytes > memory_.size() - begin) return nullptr;
    taken_ = begin + bytes;
    return memory_.data() + begin;
  }
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }

 private:
  std::span<std::byte> memory_;
  std::size_t taken_ = 0;
};

template <typename Value>
class FixedArray {
  static_assert(std::is_trivially_copyable_v<Value> && alignof(Value) <= 16);

 public:
  FixedArray() = default;
  // Its values are not set yet. It lies in `memory`, if that is given and has room.
  explicit FixedArray(std::size_t size, ColumnMemory* memory = nullptr) : size_(size) {
    if (memory != nullptr)
      if (std::byte* const place = memory->take(size * sizeof(Value)))
        values_ = std::uninitialized_default_construct_n(reinterpret_cast<Value*>(place), size) - size;
    if (values_ != nullptr) return;
    own_ = std::make_unique_for_overwrite<Value[]>(size);
    values_ = own_.get();
  }
  FixedArray(FixedArray&& other) noexcept : own_(std::move(other.own_)), values_(std::exchange(other.values_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  FixedArray& operator=(FixedArray&& other) noexcept {
    own_ = std::move(other.own_);
    values_ = std::exchange(other.values_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] Value& operator[](std::size_t i) noexcept { return values_[i]; }
  [[nodiscard]] const Value& operator[](std::size_t i) const noexcept { return values_[i]; }
  [[nodiscard]] const Value& back() const noexcept { return values_[size_ - 1]; }
  [[nodiscard]] Value* data() noexcept { return values_; }
  [[nodiscard]] const Value* data() const noexcept { return values_; }
  [[nodiscard]] const Value* begin() const noexcept { return values_; }
  [[nodiscard]] const Value* end() const noexcept { return values_ + size_; }
  // Bytes on the heap.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return own_ != nullptr ? size_ * sizeof(Value) : 0; }

 private:
  std::unique_ptr<Value[]> own_;
  Value* values_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lanescope
