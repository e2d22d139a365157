// Memory that is handed out in order and stays until the process ends. It comes from the arena's own pages, never from the target's malloc.
//
// Threads: one at a time (callers hold a lock).
#pragma once

#include <cstddef>
#include <new>
#include <string_view>
#include <utility>

namespace lanescope::agent {

class Arena {
 public:
  constexpr explicit Arena(std::size_t limit) noexcept : limit_(limit) {}

  // This many bytes, 16-byte aligned; null if the limit is reached or the system has no memory. O(1).
  void* allocate(std::size_t bytes) noexcept;

  // Null if there is no memory. T's destructor is never run.
  template <typename T, typename... Arguments>
  T* create(Arguments&&... arguments) noexcept {
    void* memory = allocate(sizeof(T));
    return memory == nullptr ? nullptr : ::new (memory) T{std::forward<Arguments>(arguments)...};
  }

  // A copy of the text; empty if there is no memory.
  std::string_view copy(std::string_view text) noexcept;

 private:
  std::size_t limit_;  // bytes that may be taken from the system
  std::size_t taken_ = 0;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;  // bytes of the current block from next_ on
};

}  // namespace lanescope::agent
