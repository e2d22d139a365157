// Memory for very many values that are all written before they are read. Internal to model/events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace lanescope {

// Asks for pages of 2 MB for memory that has not been written yet: it is then cleared in large pieces instead of page by page, which would take most of the
// time of sorting.
inline void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __linux__
  constexpr std::uintptr_t kPage = 4096, kWorthIt = 8u << 20;
  if (bytes < kWorthIt) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kPage * kPage;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // if there are no such pages, everything works as well
#endif
}

template <typename Value>
class LargeArray {
 public:
  explicit LargeArray(std::size_t size) : values_(std::make_unique_for_overwrite<Value[]>(size)), size_(size) {
    prefer_large_pages(values_.get(), size * sizeof(Value));
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Value* data() noexcept { return values_.get(); }
  [[nodiscard]] Value& operator[](std::size_t i) noexcept { return values_[i]; }
  [[nodiscard]] const Value& operator[](std::size_t i) const noexcept { return values_[i]; }
  [[nodiscard]] Value* begin() noexcept { return values_.get(); }
  [[nodiscard]] Value* end() noexcept { return values_.get() + size_; }
  [[nodiscard]] std::span<Value> span() noexcept { return {values_.get(), size_}; }

 private:
  std::unique_ptr<Value[]> values_;
  std::size_t size_;
};

}  // namespace lanescope
