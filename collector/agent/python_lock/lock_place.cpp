#include "agent/python_lock/lock_place.h"

#include <cstddef>
#include <cstring>

#include <pthread.h>

namespace lanescope::agent::python_lock {
namespace {

// struct _gil_runtime_state. It is the same in all versions, except for the members that free-threaded builds put before it.
struct Lock {
  unsigned long interval;
  void* last_holder;
  int locked;
  unsigned long switch_number;
  pthread_cond_t cond;
  pthread_mutex_t mutex;
  pthread_cond_t switch_cond;
};

constexpr unsigned kFirst = 9;
constexpr unsigned kFirstWithOffsets = 13;
constexpr unsigned kLast = 15;
constexpr std::uint64_t kCookie = 0x79'70'67'75'62'65'64'78;  // "xdebugpy": _Py_DebugOffsets, since 3.13

std::uint64_t number_at(const void* base, std::size_t index) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(base) + index * sizeof(value), sizeof(value));
  return value;
}

const void* pointer_at(const void* base, std::uint32_t offset) noexcept {
  const void* value = nullptr;
  std::memcpy(&value, static_cast<const char*>(base) + offset, sizeof(value));
  return value;
}

// In _PyRuntime: the newest interpreter, the main one, and the number of the next.
void place_interpreters(LockPlace& place, std::uint32_t first) noexcept {
  place.first = first;
  place.main = first + sizeof(void*);
  place.made = place.main + sizeof(void*);
}

// _Py_DebugOffsets as 64-bit numbers: cookie, version, free_threaded, runtime_state {size, finalizing, interpreters_head}, and interpreter_state, in which 3.14
// added one member before those of the lock.
bool read_offsets(const void* runtime, LockPlace& place) noexcept {
  const std::uint64_t version = number_at(runtime, 1);
  place.minor = static_cast<unsigned>(version >> 16 & 0xff);
  if (version >> 24 != 3 || place.minor < kFirstWithOffsets || place.minor > kLast) return false;
  place.is_optional = number_at(runtime, 2) != 0;
  place_interpreters(place, static_cast<std::uint32_t>(number_at(runtime, 5)));
  place.id = static_cast<std::uint32_t>(number_at(runtime, 7));
  place.next = static_cast<std::uint32_t>(number_at(runtime, 8));
  const std::size_t lock = place.minor == 13 ? 14 : 15;  // index of ceval_gil
  place.in_interpreter = static_cast<std::uint32_t>(number_at(runtime, lock));
  const auto begin = static_cast<std::uint32_t>(number_at(runtime, lock + 1));
  const auto locked = static_cast<std::uint32_t>(number_at(runtime, lock + 3));
  constexpr std::uint32_t kLongest = 64;  // bytes that a build may put before it
  if (locked < begin + offsetof(Lock, locked) || locked > begin + kLongest) return false;
  const auto in_front = static_cast<std::uint32_t>(locked - begin - offsetof(Lock, locked));
  place.condition += in_front;
  place.switched += in_front;
  return true;
}

// The N of "3.N...".
unsigned minor_of(const char* version) noexcept {
  if (version == nullptr || std::strncmp(version, "3.", 2) != 0) return 0;
  unsigned minor = 0;
  for (const char* digit = version + 2; *digit >= '0' && *digit <= '9' && minor < 100; ++digit) minor = 10 * minor + static_cast<unsigned>(*digit - '0');
  return minor;
}

}  // namespace

bool find_lock_place(const void* runtime, const char* version, LockPlace& place) noexcept {
  place.condition = offsetof(Lock, cond);
  place.switched = offsetof(Lock, switch_cond);
  if (number_at(runtime, 0) == kCookie) return read_offsets(runtime, place);
  place.minor = minor_of(version);
  switch (place.minor) {
    case kFirst:
    case 10:
      place.in_runtime = 352;  // ceval.gil
      return true;
    case 11:
      place.in_runtime = 360;
      return true;
    case 12:
      place_interpreters(place, 40);
      place.next = 0;
      place.id = 8;
      place.in_interpreter = 384;  // ceval.gil
      return true;
    default:
      return false;
  }
}

const void* first_interpreter(const void* runtime, const LockPlace& place) noexcept { return pointer_at(runtime, place.first); }

const void* lock_at(const void* runtime, const LockPlace& place) noexcept {
  if (place.in_runtime != 0) return static_cast<const char*>(runtime) + place.in_runtime;
  const void* interpreter = pointer_at(runtime, place.main);
  return interpreter == nullptr ? nullptr : pointer_at(interpreter, place.in_interpreter);
}

}  // namespace lanescope::agent::python_lock
