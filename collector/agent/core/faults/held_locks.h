// Locks that a library takes on this thread, so that they can be released if a fault ends its work. Whoever else waits for them then goes on, with the guarded
// data as the fault left it.
//
// Tracked are mutexes and read-write locks of the C library that the code of watched files takes by the C library's functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

// From here on, tracks the locks taken by the file whose code holds this address. Several files are possible, also repeatedly; one thread at a time. Takes as
// long as core/loader/call_slots.h says.
void watch_locks_of(const void* code) noexcept;

// The locks that guarded work (core/faults/fault_guard.h) has taken and not released.
class [[nodiscard]] HeldLocks {
 public:
  HeldLocks() noexcept = default;
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;

  // Releases the locks that are still held, the last one first. Requires: called on the thread that took them.
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
  static constexpr std::size_t kMost = 32;  // at a time; more are not released

  std::array<Held, kMost> held_;
  std::size_t count_ = 0;
};

}  // namespace lanescope::agent
