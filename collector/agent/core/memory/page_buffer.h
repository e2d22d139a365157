// Bytes that grow at the end, in pages of their own: never from the target's malloc, and without exceptions.
//
// If the system has no memory, bytes that do not fit are left out, and failed() is true until clear().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lanescope::agent {

class PageBuffer {
 public:
  constexpr PageBuffer() noexcept = default;
  ~PageBuffer();
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;

  void append(const void* bytes, std::size_t size) noexcept {
    if (!reserve(size)) return;
    std::memcpy(data_ + size_, bytes, size);
    size_ += size;
  }
  // Base 128, least significant group first, as in protobuf.
  void append_varint(std::uint64_t value) noexcept {
    if (!reserve(10)) return;
    while (value >= 0x80) {
      data_[size_++] = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    data_[size_++] = static_cast<std::byte>(value);
  }

  // Makes room for this many more bytes. Amortised O(size).
  bool reserve(std::size_t more) noexcept { return capacity_ - size_ >= more || grow(more); }
  // Includes `bytes` bytes that were written after the end. Requires: reserve(bytes) was true.
  void extend(std::size_t bytes) noexcept { size_ += bytes; }

  void clear() noexcept {
    size_ = 0;
    failed_ = false;
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t free_bytes() const noexcept { return capacity_ - size_; }
  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] std::byte* end() noexcept { return data_ + size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  bool grow(std::size_t more) noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool failed_ = false;
};

// An array of plain values in a PageBuffer.
template <typename T>
class PageArray {
 public:
  constexpr PageArray() noexcept = default;

  // Returns false if there was no memory.
  bool push_back(const T& value) noexcept {
    buffer_.append(&value, sizeof(T));
    return !buffer_.failed();
  }
  // Grows to `size` elements, new ones with all bits 0. Returns whether there was memory.
  bool resize(std::size_t size) noexcept {
    const std::size_t bytes = size * sizeof(T);
    if (bytes <= buffer_.size()) return true;
    const std::size_t more = bytes - buffer_.size();
    if (!buffer_.reserve(more)) return false;
    std::memset(buffer_.end(), 0, more);
    buffer_.extend(more);
    return true;
  }
  void clear() noexcept { buffer_.clear(); }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size() / sizeof(T); }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return reinterpret_cast<T*>(buffer_.data())[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return reinterpret_cast<const T*>(buffer_.bytes().data())[index]; }

 private:
  PageBuffer buffer_;
};

}  // namespace lanescope::agent
