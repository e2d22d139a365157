// Memory of a stack whose contents may be anything: a program may run on a stack that has no caller at its end, or another thread's rest there (greenlet,
// coroutines), so addresses in it are read only if they can be.
//
// Not thread-safe: one for each walk. After a page was checked, the program may still take it away; a thread does not do that with a stack it runs on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/core/faults/readable.h"

namespace lanescope::agent {

class CheckedMemory {
 public:
  // A system call for each page that was not the last one.
  bool can_read(std::uint64_t place) noexcept {
    const std::uint64_t page = place / kPage;
    if (page == checked_) return true;
    if (!is_readable(place)) return false;
    checked_ = page;
    return true;
  }
  // Not for the address sanitizer, which has marked places on the stack of a program that is built with it.
  [[gnu::no_sanitize_address]] bool read(std::uint64_t place, std::uint64_t& value) noexcept {
    constexpr std::uint64_t kLast = sizeof(value) - 1;
    if (place + kLast < place || !can_read(place) || !can_read(place + kLast)) return false;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(place), sizeof(value));
    return true;
  }

 private:
  static constexpr std::uint64_t kPage = 4096;  // bytes, of the smallest pages
  std::uint64_t checked_ = ~std::uint64_t{};
};

}  // namespace lanescope::agent
