// Locks that a library takes on this thread, so that they can be let go where a fault ends its work in between: whoever else waits for them
// goes on then, with what they guard as the fault left it.
//
// Seen are mutexes and read-write locks of the C library that the code of watched files takes by the C library's functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

// From here on what the file takes whose code holds this address. Several files, also again; one thread at a time. Takes as long as
// core/loader/call_slots.h says.
void watch_locks_of(const void* code) noexcept;

// Those that guarded work takes (core/faults/fault_guard.h), and has not let go.
class [[nodiscard]] HeldLocks {
 public:
  HeldLocks() noexcept = default;
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;

  // Lets go what is still held, the last one first. Requires: on the thread that took them.
  void release() noexcept;

  // For the functions that stand before the C library's.
  enum class Kind : std::uint8_t { kMutex, kReadWrite };
  static void note_taken(void* lock, Kind kind) noexcept;
  static void note_left(void* lock) noexcept;

 private:
  struct Held {
    void* lock;
    Kind kind;
  };
  static constexpr std::size_t kMost = 32;  // at a time; more are not let go

  std::array<Held, kMost> held_;
  std::size_t count_ = 0;
};

}  // namespace lanescope::agent
