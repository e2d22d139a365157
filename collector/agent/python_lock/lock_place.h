// The place of CPython's global lock in memory.
#pragma once

#include <cstdint>

namespace lanescope::agent::python_lock {

// Offsets in bytes. For 3.9 to 3.15, on 64-bit machines.
struct LockPlace {
  unsigned minor = 0;                // 3.minor
  std::uint32_t in_runtime = 0;      // before 3.12: of the lock in _PyRuntime; otherwise 0, and the following are set:
  std::uint32_t first = 0;           // in _PyRuntime: of a pointer to the newest interpreter,
  std::uint32_t main = 0;            // of a pointer to the main one, which is null before there is one,
  std::uint32_t made = 0;            // and of the number of interpreters made so far, 64 bits
  std::uint32_t next = 0;            // in an interpreter: of a pointer to the one made before it that still exists
  std::uint32_t id = 0;              // of its number, 64 bits
  std::uint32_t in_interpreter = 0;  // of a pointer to its lock, null before the lock is made
  std::uint32_t condition = 0;       // of `cond` in the lock
  std::uint32_t switched = 0;        // of `switch_cond`
  bool is_optional = false;          // a free-threaded build: the lock is taken only if an extension asked for it
};

// `runtime`: _PyRuntime; `version`: the result of Py_GetVersion(), or null. False if that version is unknown.
bool find_lock_place(const void* runtime, const char* version, LockPlace& place) noexcept;

// For 3.12 and newer. Null if there is none.
const void* first_interpreter(const void* runtime, const LockPlace& place) noexcept;

// The main interpreter's lock; null while there is none.
const void* lock_at(const void* runtime, const LockPlace& place) noexcept;

}  // namespace lanescope::agent::python_lock
